// SPDX-License-Identifier: BSD-2-Clause
// Garbage, silence, floods: whatever comes costs the connection it came on, and no other.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <random>
#include <thread>

#include "tests/scarce_limit.h"
#include "tests/transport/conformance/tcp_world.h"
#include "tests/transport/tcp/raw_peer.h"

namespace softdat::transport::tcp {
namespace {

class HostileTest : public RawTest {
 protected:
  void SetUp() override { start_with({}); }
  void start_with(const TcpOptions& options) {
    port_.reset();
    carrier_.reset();
    start(options);
    port_ = std::make_unique<PeerPort>(*carrier_, kPort, 4000);
    ASSERT_TRUE(port_->port);
  }
  // An innocent pair, to see that it goes on undisturbed.
  void connect_good() {
    good_active_.connect(*carrier_, {.ipv4 = address_}, kPort);
    ASSERT_TRUE(reach([&] { return port_->requests.size() == 1; }));
    ASSERT_TRUE(good_passive_.accept(*port_->requests[0]));
    port_->requests.clear();
    ASSERT_TRUE(reach([&] { return good_active_.is_established && good_passive_.is_established; }));
  }
  void expect_good() {
    const std::size_t before = good_passive_.messages.size();
    good_active_.queue_send("still fine");
    ASSERT_TRUE(reach([&] { return good_passive_.messages.size() == before + 1; }));
    EXPECT_TRUE(good_active_.closings.empty());
  }
  bool is_ended(RawPeer& raw) {
    return reach([&] { return raw.is_ended(); }, &raw);
  }

  std::unique_ptr<PeerPort> port_;
  Peer good_active_, good_passive_;
};

TEST_F(HostileTest, WhoSaysNothingIsShownTheDoorAfterFiveSeconds) {
  RawPeer silent(address_, kPort), slow(address_, kPort);
  slow.send(hex("'MPA ID Req Fr'"));
  settle();
  pass(std::chrono::milliseconds(4999));
  settle(&silent);
  EXPECT_FALSE(silent.is_ended());
  pass(std::chrono::milliseconds(1));
  EXPECT_TRUE(is_ended(silent));
  EXPECT_TRUE(is_ended(slow));
}

TEST_F(HostileTest, GarbageForARequestEndsAtOnce) {
  connect_good();
  const std::vector<Bytes> requests = {
      hex("'GET / HTTP/1.1'") + Bytes(20),    mpa_reply("10 02", hex("0000 0000")),
      mpa_request("10 03", hex("0000 0000")), mpa_request("10 00", {}),
      mpa_request("10 02", hex("0000")),      mpa_request("00 01", Bytes(513)),
      Bytes(1000, std::byte{0xff}),
  };
  for (const Bytes& request : requests) {
    RawPeer raw(address_, kPort);
    raw.send(request);
    EXPECT_TRUE(is_ended(raw)) << to_hex(std::span(request).first(20));
    EXPECT_TRUE(raw.received().empty());
  }
  EXPECT_TRUE(port_->requests.empty());
  expect_good();
}

TEST_F(HostileTest, TheLongestPrivateDataThatTheRfcAllowsIsTaken) {
  RawPeer raw(address_, kPort);
  raw.send(mpa_request("00 01", Bytes(512)));
  ASSERT_TRUE(reach([&] { return port_->requests.size() == 1; }));
  EXPECT_EQ(port_->requests[0]->offer().private_data.size(), 512u);
}

TEST_F(HostileTest, SpeakingBeforeTheAnswerIsABreach) {
  RawPeer raw(address_, kPort);
  raw.send(mpa_request("10 02", hex("0004 0004")) + make_fpdu({.opcode = Opcode::kSend, .sequence = 1}));
  ASSERT_TRUE(reach([&] { return port_->requests.size() == 1; }));
  Peer peer;
  EXPECT_FALSE(peer.accept(*port_->requests[0]));
  EXPECT_FALSE(port_->requests[0]->is_alive());
  EXPECT_TRUE(is_ended(raw));
}

TEST_F(HostileTest, GarbageOnAnEstablishedConnectionCostsExactlyThatOne) {
  connect_good();
  RawPeer raw(address_, kPort);
  Peer victim;
  connect_raw(raw, victim, *port_);
  raw.send(make_fpdu({.opcode = Opcode::kSend, .sequence = 7}, hex("'what'")));
  ASSERT_TRUE(reach([&] { return raw.is_ended(); }, &raw));
  // Its first FPDU was the breach, so it was never established.
  EXPECT_EQ(victim.closings, std::vector{CloseReason::kLost});
  expect_good();
}

TEST_F(HostileTest, TheBreachIsToldToBothSides) {
  RawPeer raw(address_, kPort);
  Peer victim;
  connect_raw(raw, victim, *port_);
  pass(std::chrono::milliseconds(100));
  ASSERT_TRUE(reach([&] { return victim.is_established; }));
  raw.send(make_fpdu({.opcode = Opcode::kSend, .sequence = 7}, hex("'what'")));
  ASSERT_TRUE(reach([&] { return raw.is_ended(); }, &raw));
  EXPECT_EQ(victim.closings, std::vector{CloseReason::kProtocolError});
  EXPECT_EQ(victim.terminate_code, (TerminateCode{1, 2, 3}));
  EXPECT_EQ(to_hex(std::span(raw.received()).subspan(20, 6)), "12 03 c0 00 00 16");
}

TEST_F(HostileTest, SpoiledStreamsBreakOnceAndNothingElse) {
  connect_good();
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    RawPeer raw(address_, kPort);
    Peer victim;
    victim.discards = true;
    connect_raw(raw, victim, *port_);
    Bytes stream;
    for (std::uint32_t i = 1; i <= 20; ++i) {
      stream = stream + make_fpdu({.opcode = Opcode::kSend, .sequence = i}, Bytes(random() % 100));
    }
    for (std::uint64_t n = 1 + random() % 4; n > 0; --n) {
      stream[random() % stream.size()] ^= static_cast<std::byte>(1u << (random() % 8));
    }
    stream.resize(stream.size() - random() % 50);
    raw.send(stream);
    raw.shut_down();
    ASSERT_TRUE(reach([&] { return !victim.closings.empty(); }, &raw)) << round;
    settle(&raw);
    ASSERT_EQ(victim.closings.size(), 1u) << round;
  }
  expect_good();
}

TEST_F(HostileTest, AFloodOfConnectsLeavesRoomForTheHonest) {
  TcpOptions options;
  options.max_half_open = 16;
  start_with(options);
  std::vector<std::unique_ptr<RawPeer>> flood;
  for (int i = 0; i < 200; ++i) flood.push_back(std::make_unique<RawPeer>(address_, kPort));
  settle();
  connect_good();
  expect_good();
  EXPECT_TRUE(is_ended(*flood[0])) << "the oldest made room";
}

// Counted in work, not in time: each connection that is taken in pushes out an older one, and between two messages of
// the good connection there are few of those.
TEST_F(HostileTest, AFloodOfConnectsDoesNotStarveTraffic) {
  constexpr std::size_t kFlood = 400;
  constexpr std::size_t kKept = 16;
  constexpr std::size_t kMostAtATime = 4;
  TcpOptions options;
  options.max_half_open_per_source = kKept;
  start_with(options);
  connect_good();
  expect_good();
  std::vector<std::unique_ptr<RawPeer>> flood;
  for (std::size_t i = 0; i < kFlood; ++i) flood.push_back(std::make_unique<RawPeer>(address_, kPort));
  std::size_t ended = 0;
  std::size_t most_at_a_time = 0;
  while (ended < kFlood - kKept) {
    const std::size_t before = ended;
    ASSERT_NO_FATAL_FAILURE(expect_good());
    while (ended < kFlood - kKept && (flood[ended]->pump(), flood[ended]->is_ended())) ++ended;
    most_at_a_time = std::max(most_at_a_time, ended - before);
  }
  EXPECT_LE(most_at_a_time, kMostAtATime);
}

TEST_F(HostileTest, ASourceThatFloodsPushesOutItsOwnOldestOnly) {
  TcpOptions options;
  options.max_half_open_per_source = 4;
  start_with(options);
  RawPeer stranger(address_, kPort, own_loopback_address(2));
  settle();
  std::vector<std::unique_ptr<RawPeer>> flood;
  for (int i = 0; i < 20; ++i) {
    flood.push_back(std::make_unique<RawPeer>(address_, kPort));
    settle();
  }
  EXPECT_TRUE(is_ended(*flood[15]));
  flood[16]->pump();
  EXPECT_FALSE(flood[16]->is_ended());
  stranger.send(mpa_request("10 02", hex("0004 0004")));
  EXPECT_TRUE(reach([&] { return port_->requests.size() == 1; }));
}

std::size_t count_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST_F(HostileTest, RefusedPeersThatDoNotHangUpPushOutOneAnother) {
  constexpr std::size_t kFlood = 20;
  TcpOptions options;
  options.max_half_open_per_source = 4;
  start_with(options);
  const std::size_t before = count_descriptors();
  std::vector<std::unique_ptr<RawPeer>> flood;
  for (std::size_t i = 0; i < kFlood; ++i) {
    flood.push_back(std::make_unique<RawPeer>(address_, kPort));
    flood.back()->send(mpa_request("90 02", hex("0004 0004")));  // it insists on markers
    ASSERT_TRUE(reach([&] { return flood.back()->received().size() == 24; }, flood.back().get()));
    settle();
  }
  EXPECT_EQ(count_descriptors() - before, kFlood + options.max_half_open_per_source) << "theirs and ours";
}

TEST_F(HostileTest, WantOfDescriptorsTurnsPeersAwayAndPasses) {
  connect_good();
  expect_good();  // once before: a sanitizer's first look at an object needs a descriptor too
  RawPeer first(address_, kPort), second(address_, kPort);
  {
    const ScarceLimit descriptors(RLIMIT_NOFILE, 0);
    settle();
    expect_good();
  }
  pass(std::chrono::seconds(1));
  RawPeer later(address_, kPort);
  later.send(mpa_request("10 02", hex("0004 0004")));
  EXPECT_TRUE(reach([&] { return port_->requests.size() == 1; }));
  expect_good();
}

TEST_F(HostileTest, AReaderThatDoesNotReadBlocksOnlyItsOwnSender) {
  connect_good();
  RawPeer raw(address_, kPort);
  Peer sender;
  connect_raw(raw, sender, *port_);
  pass(std::chrono::milliseconds(100));
  ASSERT_TRUE(reach([&] { return sender.is_established; }));
  const std::size_t big = 24u << 20;
  sender.queue({.opcode = Opcode::kSend, .length = big}, conformance::make_pattern(big));
  settle();
  EXPECT_FALSE(sender.is_drained());
  expect_good();
  // Closed in the middle, it does not keep the carrier from going.
  sender.channel->close(CloseMode::kOrderly);
  pass(std::chrono::seconds(6));
  EXPECT_TRUE(reach([&] { return raw.is_ended(); }, &raw));
}

TEST_F(HostileTest, AHalfClosedPeerThatDoesNotReadCostsNoProcessor) {
  RawPeer raw(address_, kPort);
  Peer sender;
  connect_raw(raw, sender, *port_);
  pass(std::chrono::milliseconds(100));
  ASSERT_TRUE(reach([&] { return sender.is_established; }));
  const std::size_t big = 24u << 20;
  sender.queue({.opcode = Opcode::kSend, .length = big}, conformance::make_pattern(big));
  settle();
  sender.channel->close(CloseMode::kOrderly);
  raw.shut_down();
  settle();
  int early = 0;
  for (int i = 0; i < 20; ++i) {
    carrier_->turn(now_);
    const base::Time deadline = base::Clock::now() + std::chrono::milliseconds(5);
    reactor_->wait(deadline);
    early += base::Clock::now() < deadline;
  }
  EXPECT_LT(early, 10);
  pass(std::chrono::seconds(6));
  EXPECT_TRUE(reach([&] { return raw.is_ended(); }, &raw));
}

// The time that an orderly end may take is longer than any test.
TEST_F(HostileTest, APeerThatTakesNothingDoesNotHoldUpTheEndOfTheCarrier) {
  TcpOptions options;
  options.linger = std::chrono::hours(24);
  start_with(options);
  RawPeer raw(address_, kPort);
  Peer sender;
  connect_raw(raw, sender, *port_);
  pass(std::chrono::milliseconds(100));
  ASSERT_TRUE(reach([&] { return sender.is_established; }));
  const std::size_t big = 24u << 20;
  sender.queue({.opcode = Opcode::kSend, .length = big}, conformance::make_pattern(big));
  settle();
  ASSERT_FALSE(sender.is_drained());
  sender.channel->close(CloseMode::kPrompt);
  port_.reset();
  carrier_.reset();
  raw.pump();
  EXPECT_TRUE(raw.is_ended());
  EXPECT_LT(raw.received().size(), big) << "what was lost was told by a reset";
}

// The kernel holds five messages, and a turn reads one of them at most.
TEST_F(HostileTest, WhatWasSentBeforeAResetArrivesHoweverMuchItIs) {
  TcpOptions options;
  options.read_budget = 1;
  options.receive_buffer = 200'000;
  start_with(options);
  RawPeer raw(address_, kPort);
  Peer victim;
  victim.discards = true;
  connect_raw(raw, victim, *port_);
  pass(std::chrono::milliseconds(100));
  ASSERT_TRUE(reach([&] { return victim.is_established; }));
  constexpr std::uint32_t kCount = 5;
  for (std::uint32_t i = 1; i <= kCount; ++i) {
    raw.send(make_fpdu({.opcode = Opcode::kSend, .sequence = i}, Bytes(30000)));
  }
  // All of it is here before the reset, which drops what is not.
  const base::Time deadline = base::Clock::now() + std::chrono::seconds(20);
  while (raw.has_unacknowledged() && base::Clock::now() < deadline) std::this_thread::yield();
  ASSERT_FALSE(raw.has_unacknowledged());
  raw.close();
  while (victim.last_result == SendResult::kDone) victim.queue_send("are you there?");
  ASSERT_TRUE(reach([&] { return !victim.closings.empty(); }));
  EXPECT_EQ(victim.messages.size(), kCount);
}

TEST_F(HostileTest, APeerThatTerminatesIsHeard) {
  RawPeer raw(address_, kPort);
  Peer victim;
  connect_raw(raw, victim, *port_);
  raw.send(make_fpdu({.opcode = Opcode::kSend, .sequence = 1}, hex("'x'")) +
           make_fpdu({.opcode = Opcode::kTerminate, .queue = 2, .sequence = 1}, hex("11 01 00 00")));
  ASSERT_TRUE(reach([&] { return !victim.closings.empty(); }));
  EXPECT_EQ(victim.closings, std::vector{CloseReason::kTerminated});
  EXPECT_EQ(victim.terminate_code, (TerminateCode{1, 1, 1}));
}

}  // namespace
}  // namespace softdat::transport::tcp
