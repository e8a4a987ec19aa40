// SPDX-License-Identifier: BSD-2-Clause
// What the common suite cannot ask of every carrier: ports, waiting, and the cost of the idle.
#include "transport/tcp/tcp_carrier.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <thread>

#include "tests/transport/conformance/tcp_world.h"
#include "tests/transport/tcp/raw_peer.h"
#include "transport/tcp/service_port.h"
#include "transport/tcp/socket.h"

namespace softdat::transport::tcp {
namespace {

class TcpCarrierTest : public RawTest {
 protected:
  void SetUp() override { start(); }
  void connect(Peer& active, Peer& passive, std::uint64_t service) {
    PeerPort port(*carrier_, service, 4);
    ASSERT_TRUE(port.port);
    active.connect(*carrier_, {.ipv4 = address_}, service);
    ASSERT_TRUE(reach([&] { return port.requests.size() == 1; }));
    ASSERT_TRUE(passive.accept(*port.requests[0]));
    ASSERT_TRUE(reach([&] { return active.is_established && passive.is_established; }));
  }
};

constexpr std::uint64_t kBigId = 0xfedc'ba98'7654'3210;

TEST_F(TcpCarrierTest, AServiceThatIsAPortListensThere) {
  PeerPort port(*carrier_, kPort, 1);
  ASSERT_TRUE(port.port);
  RawPeer raw(address_, kPort);
  EXPECT_TRUE(raw.is_connected());
}

TEST_F(TcpCarrierTest, APortThatAnotherProgramHasIsInUse) {
  RawPeer other = RawPeer::listening(address_, kPort);
  PeerPort port(*carrier_, kPort, 1);
  EXPECT_FALSE(port.port);
  EXPECT_EQ(port.error, ListenError::kAddressInUse);
}

// More often than the queue of the claim is long.
TEST_F(TcpCarrierTest, AServiceIsTakenHoweverOftenOthersAskForIt) {
  PeerPort port(*carrier_, kBigId, 1);
  ASSERT_TRUE(port.port);
  for (int i = 0; i < 10'000; ++i) {
    const auto second = claim_service({.ipv4 = address_}, kBigId);
    ASSERT_FALSE(second.ok());
    ASSERT_EQ(second.reason(), EADDRINUSE);
    if (i % 1000 == 0) carrier_->turn(base::Clock::now());
  }
}

TEST_F(TcpCarrierTest, AServiceIsOneForAllCarriersOfAnAddress) {
  const auto reactor = Reactor::create();
  TcpOptions options;
  options.address = {.ipv4 = address_};
  TcpCarrier second(*reactor, options);
  for (const std::uint64_t service : {std::uint64_t{kPort}, kBigId}) {
    PeerPort first_port(*carrier_, service, 1);
    ASSERT_TRUE(first_port.port);
    PeerPort second_port(second, service, 1);
    EXPECT_FALSE(second_port.port);
    EXPECT_EQ(second_port.error, ListenError::kAddressInUse);
  }
}

// A look starts no timer and watches no socket. What needs that makes the next poll, or a thread that waits, take a
// turn.
TEST_F(TcpCarrierTest, AConnectionThatEndsWithinALookLeavesTheRestToATurn) {
  Peer active, passive;
  connect(active, passive, kPort);
  active.queue_send("first");
  ASSERT_TRUE(reach([&] { return passive.messages.size() == 1; }));
  ASSERT_TRUE(reach([&] { return !carrier_->look().takes_turn; }));
  EXPECT_NE(carrier_->wait_until(), base::Time::min());
  passive.after_message = [&] { passive.channel->terminate({}); };
  active.queue_send("second");
  // The socket that the last look emptied is left out once.
  for (int i = 0; i < 2 && passive.messages.size() == 1; ++i) EXPECT_FALSE(carrier_->look().takes_turn);
  ASSERT_EQ(passive.messages.size(), 2u);
  EXPECT_EQ(carrier_->wait_until(), base::Time::min());
  EXPECT_TRUE(carrier_->look().takes_turn);
  passive.after_message = nullptr;
}

TEST_F(TcpCarrierTest, ATakenProbePortIsSteppedOverByBothSides) {
  const auto ports = ports_of(kBigId);
  std::vector<RawPeer> taken;
  for (int i = 0; i < 3; ++i) taken.push_back(RawPeer::listening(address_, ports[static_cast<std::size_t>(i)]));
  PeerPort port(*carrier_, kBigId, 1);
  ASSERT_TRUE(port.port);
  // Two of them are gone when somebody connects; the third hangs up on him.
  taken.erase(taken.begin(), taken.begin() + 2);
  Peer active, passive;
  active.connect(*carrier_, {.ipv4 = address_}, kBigId);
  ASSERT_TRUE(reach([&] { return taken[0].adopt(); }));
  taken[0].close();
  ASSERT_TRUE(reach([&] { return port.requests.size() == 1; }));
  ASSERT_TRUE(passive.accept(*port.requests[0]));
  ASSERT_TRUE(reach([&] { return active.is_established; }));
}

TEST_F(TcpCarrierTest, AnotherServiceOnTheProbePortSaysSo) {
  // A service whose id is the very port that the big one's sequence starts with.
  PeerPort squatter(*carrier_, ports_of(kBigId)[0], 1);
  ASSERT_TRUE(squatter.port);
  Peer active, passive;
  active.connect(*carrier_, {.ipv4 = address_}, kBigId);
  ASSERT_TRUE(reach([&] { return !active.refusals.empty(); }));
  EXPECT_EQ(active.refusals, std::vector{Refusal::kNoListener});
  EXPECT_TRUE(squatter.requests.empty());
  Peer again;
  connect(again, passive, kBigId);
}

// A foreign program on a probe port does not know whether the service is served.
TEST_F(TcpCarrierTest, ForeignProgramsOnProbePortsDoNotMakeItUnreachable) {
  const auto ports = ports_of(kBigId);
  RawPeer mute = RawPeer::listening(address_, ports[0]);
  RawPeer other = RawPeer::listening(address_, ports[1]);
  Peer active;
  active.connect(*carrier_, {.ipv4 = address_}, kBigId);
  ASSERT_TRUE(reach([&] { return !mute.received().empty(); }, &mute));
  mute.close();  // an end, and no reset: all has been read
  ASSERT_TRUE(reach([&] { return !other.received().empty(); }, &other));
  other.send(hex("'HTTP/1.0 400 Bad Request' 0d0a"));
  ASSERT_TRUE(reach([&] { return !active.refusals.empty(); }));
  EXPECT_EQ(active.refusals, std::vector{Refusal::kNoListener});
}

TEST_F(TcpCarrierTest, EveryProbePortTakenIsWantOfResources) {
  std::vector<RawPeer> taken;
  for (const std::uint16_t port : ports_of(kBigId)) taken.push_back(RawPeer::listening(address_, port));
  PeerPort port(*carrier_, kBigId, 1);
  EXPECT_FALSE(port.port);
  EXPECT_EQ(port.error, ListenError::kNoResources);
}

// A loop over those that are due must bear that their list grows.
TEST_F(TcpCarrierTest, ASinkThatHearsARefusalMayBeginManyConnections) {
  const Address nowhere{.ipv4 = 0xffff'ffff};  // the system refuses it at once
  Peer first, second;
  std::vector<Peer> more(200);
  first.after_refused = [&] {
    for (Peer& peer : more) peer.connect(*carrier_, nowhere, kPort);
  };
  first.connect(*carrier_, nowhere, kPort);
  second.connect(*carrier_, nowhere, kPort);
  const auto is_refused = [](const Peer& peer) { return peer.refusals == std::vector{Refusal::kUnreachable}; };
  EXPECT_TRUE(reach([&] { return is_refused(second) && std::all_of(more.begin(), more.end(), is_refused); }));
}

TEST_F(TcpCarrierTest, AnIdleWaitEndsAtItsDeadline) {
  carrier_->turn(now_);
  const base::Time deadline = base::Clock::now() + std::chrono::milliseconds(20);
  carrier_->wait(deadline);
  EXPECT_GE(base::Clock::now(), deadline);
}

// What has been asked for between two turns ends a wait until it is done, and not for good.
TEST_F(TcpCarrierTest, AWaitAfterWorkThatIsDoneEndsAtItsDeadline) {
  carrier_->turn(now_);
  Peer refused;
  refused.connect(*carrier_, {.ipv4 = 0x7fff'ffff}, kPort);
  carrier_->wait(base::kNever);
  ASSERT_TRUE(reach([&] { return !refused.refusals.empty(); }));
  carrier_->wait(base::Time::min());  // swallows the interruption
  const base::Time deadline = base::Clock::now() + std::chrono::milliseconds(20);
  carrier_->wait(deadline);
  EXPECT_GE(base::Clock::now(), deadline);
}

TEST_F(TcpCarrierTest, AnInterruptEndsTheWaitUnderWayOrTheNext) {
  carrier_->turn(now_);
  carrier_->interrupt();
  carrier_->wait(base::kNever);
  std::thread other([&] { carrier_->interrupt(); });
  carrier_->wait(base::kNever);
  other.join();
}

TEST_F(TcpCarrierTest, AWaitEndsWhenAMessageComes) {
  TcpOptions options;
  options.address = {.ipv4 = own_loopback_address(2)};
  const auto reactor = Reactor::create();
  TcpCarrier there(*reactor, options);
  PeerPort port(there, kBigId, 1);
  ASSERT_TRUE(port.port);
  Peer active, passive;
  passive.after_message = [&] { passive.queue_send("pong"); };
  // The other side sleeps whenever it can; nobody but the kernel wakes it.
  std::atomic<bool> is_over = false;
  std::thread sleeper([&] {
    while (!is_over) {
      if (port.requests.size() == 1) {
        EXPECT_TRUE(passive.accept(*port.requests[0]));
        port.requests.clear();
      }
      if (there.turn(base::Clock::now()) == 0) there.wait(base::kNever);
    }
  });
  active.connect(*carrier_, options.address, kBigId);
  now_ = base::Clock::now();
  EXPECT_TRUE(reach([&] { return active.is_established; }));
  for (std::size_t i = 1; i <= 100; ++i) {
    active.queue_send("ping");
    EXPECT_TRUE(reach([&] { return active.messages.size() == i; })) << i;
  }
  is_over = true;
  there.interrupt();
  sleeper.join();
  EXPECT_EQ(passive.messages.size(), 100u);
}

TEST_F(TcpCarrierTest, AWaitEndsWhenATimerOfAConnectionIsDue) {
  TcpOptions options;
  options.request_timeout = std::chrono::milliseconds(30);
  start(options);
  PeerPort port(*carrier_, kPort, 1);
  RawPeer silent(address_, kPort);
  const base::Time deadline = base::Clock::now() + std::chrono::seconds(240);
  while (!silent.is_ended() && base::Clock::now() < deadline) {
    if (carrier_->turn(base::Clock::now()) == 0) carrier_->wait(base::Clock::now() + std::chrono::seconds(60));
    silent.pump();
  }
  EXPECT_TRUE(silent.is_ended());
  EXPECT_LT(base::Clock::now(), deadline) << "the wait ended for the timer";
}

std::uint64_t voluntary_switches() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return static_cast<std::uint64_t>(usage.ru_nvcsw);
}

TEST_F(TcpCarrierTest, AnIdleConnectionDoesNotDisturbTheSleep) {
  Peer active, passive;
  connect(active, passive, kBigId);
  settle();
  now_ = base::Clock::now();
  carrier_->turn(now_);
  const std::uint64_t before = voluntary_switches();
  carrier_->wait(base::Clock::now() + std::chrono::milliseconds(300));
  EXPECT_LE(voluntary_switches() - before, 20u);
}

TEST_F(TcpCarrierTest, ManyIdleChannelsBesideABusyOne) {
  constexpr std::size_t kIdle = 400;
  PeerPort port(*carrier_, kBigId, kIdle);
  std::vector<std::unique_ptr<Peer>> active, passive;
  port.handler = [&](std::unique_ptr<InboundRequest> request) {
    passive.push_back(std::make_unique<Peer>());
    EXPECT_TRUE(passive.back()->accept(*request));
  };
  for (std::size_t i = 0; i < kIdle; ++i) {
    active.push_back(std::make_unique<Peer>());
    active.back()->offer.private_data = hex("01");
    active.back()->connect(*carrier_, {.ipv4 = address_}, kBigId);
  }
  const auto all_established = [](const auto& peers) {
    return std::ranges::all_of(peers, [](const auto& peer) { return peer->is_established; });
  };
  ASSERT_TRUE(reach([&] { return passive.size() == kIdle && all_established(passive) && all_established(active); }));
  // Each is heard, whichever were busy before.
  for (std::size_t i = 0; i < kIdle; i += 7) {
    active[i]->queue_send("one of many");
    passive[kIdle - 1 - i]->queue_send("to somebody");
  }
  const auto count = [](const auto& peers) {
    std::size_t messages = 0;
    for (const auto& peer : peers) messages += peer->messages.size();
    return messages;
  };
  const std::size_t expected = (kIdle + 6) / 7;
  ASSERT_TRUE(reach([&] { return count(active) == expected && count(passive) == expected; }));
}

TEST_F(TcpCarrierTest, WhatWasSentBeforeTheEndOfTheCarrierArrives) {
  RawPeer raw;
  {
    PeerPort port(*carrier_, kPort, 1);
    raw = RawPeer(address_, kPort);
    Peer peer;
    connect_raw(raw, peer, port);
    pass(std::chrono::milliseconds(100));
    ASSERT_TRUE(reach([&] { return peer.is_established; }));
    const std::size_t length = 100000;
    peer.queue({.opcode = Opcode::kSend, .length = length}, conformance::make_pattern(length));
    ASSERT_TRUE(reach([&] { return peer.is_drained(); }, &raw));
  }
  carrier_.reset();
  const base::Time deadline = base::Clock::now() + std::chrono::seconds(20);
  while (!raw.is_ended() && base::Clock::now() < deadline) raw.pump();
  EXPECT_GE(raw.received().size(), 100000u);
}

TEST_F(TcpCarrierTest, APrivilegedServiceFindsAnotherPort) {
  // Whether 80 itself may be had depends on who runs the test; the service works either way.
  Peer active, passive;
  connect(active, passive, 80);
}

TEST_F(TcpCarrierTest, AnEmptyWriteThatLooksLikeANoteIsAWrite) {
  Peer active, passive;
  connect(active, passive, kBigId);
  active.queue({.opcode = Opcode::kWrite, .stag = 0, .offset = 0x0400'0000'0000'0000});
  active.queue_send("not a bye");
  ASSERT_TRUE(reach([&] { return passive.messages.size() == 2; }));
  EXPECT_EQ(passive.messages[0].message.opcode, Opcode::kWrite);
  EXPECT_TRUE(passive.closings.empty());
}

}  // namespace
}  // namespace softdat::transport::tcp
