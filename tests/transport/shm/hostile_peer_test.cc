// SPDX-License-Identifier: BSD-2-Clause
// A peer that breaks the protocol costs its own channels, and nothing else.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <random>
#include <thread>

#include "base/process_fence.h"
#include "tests/scarce_limit.h"
#include "tests/transport/conformance/peer.h"
#include "tests/transport/shm/lingering_socket.h"
#include "tests/transport/shm/raw_peer.h"
#include "tests/transport/shm/test_addresses.h"
#include "transport/reactor.h"
#include "transport/shm/carrier_parts.h"
#include "transport/shm/shm_carrier.h"

namespace softdat::transport::shm {
namespace {

using conformance::Peer;
using conformance::PeerPort;

class HostilePeerTest : public testing::Test {
 protected:
  HostilePeerTest()
      : reactor_(Reactor::create()),
        carrier_(*reactor_, {.address = {.ipv4 = kParentAddress}}),
        port_(carrier_, test_service(), 1u << 20) {
    port_.handler = [this](std::unique_ptr<InboundRequest> request) {
      victims_.push_back(std::make_unique<Peer>());
      victims_.back()->accept(*request);
    };
  }

  bool reach(const std::function<bool()>& is_done) {
    const base::Time deadline = base::Clock::now() + std::chrono::seconds(20);
    while (!is_done()) {
      if (carrier_.turn(base::Clock::now()) == 0 && base::Clock::now() > deadline) return false;
    }
    return true;
  }

  std::unique_ptr<RawPeer> meet(bool joins_fences = false) {
    auto peer = std::make_unique<RawPeer>(kParentAddress, test_service(), joins_fences);
    EXPECT_TRUE(reach([&] { return peer->take_welcome(); }));
    return peer;
  }

  static base::UniqueFd reach_socket() { return Rendezvous().connect({.ipv4 = kParentAddress}, test_service()).fd; }

  static Bytes connect_bytes() { return encode_offer({.service_id = test_service()}); }

  // A peer with one channel, number 0, that is open on our side.
  std::unique_ptr<RawPeer> meet_and_connect(bool joins_fences = false) {
    victims_.clear();
    auto peer = meet(joins_fences);
    peer->write(RecordKind::kConnect, 0, connect_bytes());
    EXPECT_TRUE(reach([&] { return !victims_.empty(); }));
    peer->write(RecordKind::kConfirm, 0, {});
    EXPECT_TRUE(reach([&] { return !victims_.empty() && victims_[0]->is_established; }));
    return peer;
  }

  static Bytes message(const Message& message, std::size_t payload) {
    const MessageHead head = encode_head(message);
    Bytes bytes(head.bytes() + payload, std::byte{0x5a});
    std::memcpy(bytes.data(), head.words.data(), head.bytes());
    return bytes;
  }

  void expect_broken(const char* what, const std::function<void(RawPeer&)>& misbehave) {
    SCOPED_TRACE(what);
    const auto peer = meet_and_connect();
    misbehave(*peer);
    ASSERT_TRUE(reach([&] { return !victims_[0]->closings.empty(); }));
    EXPECT_EQ(victims_[0]->closings, std::vector{CloseReason::kProtocolError});
    for (const auto& victim : victims_) EXPECT_LE(victim->closings.size(), 1u);
  }

  void expect_still_serving() {
    const auto peer = meet_and_connect();
    peer->write(RecordKind::kMessage, 0, message({.opcode = Opcode::kSend, .length = 5}, 5));
    EXPECT_TRUE(reach([&] { return victims_[0]->messages.size() == 1; }));
  }

  std::unique_ptr<Reactor> reactor_;
  ShmCarrier carrier_;
  std::vector<std::unique_ptr<Peer>> victims_;
  PeerPort port_;
};

constexpr std::uint32_t kOurNumber = 0x80000000;  // as if the acceptor had asked

TEST_F(HostilePeerTest, AnHonestRawPeerIsServed) {
  const auto peer = meet_and_connect();
  peer->write(RecordKind::kMessage, 0, message({.opcode = Opcode::kSend, .length = 5}, 5));
  ASSERT_TRUE(reach([&] { return victims_[0]->messages.size() == 1; }));
  peer->write(RecordKind::kBye, 0, {});
  ASSERT_TRUE(reach([&] { return !victims_[0]->closings.empty(); }));
  EXPECT_EQ(victims_[0]->closings, std::vector{CloseReason::kBye});
  EXPECT_EQ(peer->drain(), RecordKind::kBye);
}

// The fences of one that has joined are the sleeper's business. An older build, or one on another kernel, has not
// joined.
TEST_F(HostilePeerTest, OneThatHasNotJoinedTheFencesIsFencedAtEachRecord) {
  const auto fenced_records = [&](bool joins_fences) {
    const auto peer = meet_and_connect(joins_fences);
    return peer->segment().ring_of(Side::kAcceptor).control->pulse.load();
  };
  EXPECT_GT(fenced_records(false), 0u);
  if (!base::join_fences()) GTEST_SKIP() << "this kernel has no such fences";
  EXPECT_EQ(fenced_records(true), 0u);
}

// It reads nothing, so that each of our refusals has to be kept.
TEST_F(HostilePeerTest, OneThatAsksAndEndsForEverIsCutOff) {
  expect_broken("asks and ends for ever", [&](RawPeer& peer) {
    const Bytes nobody = encode_offer({.service_id = test_service() + 1});
    for (int round = 0; round < 100'000 && victims_[0]->closings.empty(); ++round) {
      peer.write(RecordKind::kConnect, 1, nobody);
      peer.write(RecordKind::kBye, 1, {});
      carrier_.turn(base::Clock::now());
    }
  });
  expect_still_serving();
}

TEST_F(HostilePeerTest, RecordsThatMakeNoSenseBreakTheLink) {
  expect_broken("unknown kind", [](RawPeer& peer) { peer.write_word(8 | 99ull << 24, {}); });
  expect_broken("kind zero", [](RawPeer& peer) { peer.write_word(8, {}); });
  expect_broken("shorter than its first word",
                [](RawPeer& peer) { peer.write_word(pack({.bytes = 7, .kind = RecordKind::kBye, .channel = 0}), {}); });
  expect_broken("longer than any record", [](RawPeer& peer) {
    peer.write_word(pack({.bytes = 0xffffff, .kind = RecordKind::kMore, .channel = 0}), {});
  });
  expect_broken("unknown opcode",
                [](RawPeer& peer) { peer.write(RecordKind::kMessage, 0, Bytes(64, std::byte{0x77})); });
  expect_broken("half a head", [](RawPeer& peer) { peer.write(RecordKind::kMessage, 0, Bytes(4, std::byte{0})); });
  expect_broken("half an offer", [](RawPeer& peer) { peer.write(RecordKind::kConnect, 1, Bytes(20, std::byte{0})); });
  expect_broken("half a terminate",
                [](RawPeer& peer) { peer.write(RecordKind::kTerminate, 0, Bytes(1, std::byte{0})); });
  expect_broken("half a refusal", [](RawPeer& peer) { peer.write(RecordKind::kRefuse, 0, Bytes(1, std::byte{0})); });
}

TEST_F(HostilePeerTest, RecordsOutOfTurnBreakTheLink) {
  expect_broken("a second confirmation", [](RawPeer& peer) { peer.write(RecordKind::kConfirm, 0, {}); });
  expect_broken("an accept nobody asked for",
                [](RawPeer& peer) { peer.write(RecordKind::kAccept, 0, connect_bytes()); });
  expect_broken("a refusal nobody asked for",
                [](RawPeer& peer) { peer.write(RecordKind::kRefuse, 0, encode_refusal({})); });
  expect_broken("more of no message", [](RawPeer& peer) { peer.write(RecordKind::kMore, 0, Bytes(10, std::byte{0})); });
  expect_broken("a message within a message", [](RawPeer& peer) {
    peer.write(RecordKind::kMessage, 0, message({.opcode = Opcode::kSend, .length = 9}, 5));
    peer.write(RecordKind::kMessage, 0, message({.opcode = Opcode::kSend, .length = 9}, 5));
  });
  expect_broken("more payload than announced", [](RawPeer& peer) {
    peer.write(RecordKind::kMessage, 0, message({.opcode = Opcode::kSend, .length = 9}, 10));
  });
  expect_broken("payload where there is none",
                [](RawPeer& peer) { peer.write(RecordKind::kMessage, 0, message({.opcode = Opcode::kImmediate}, 1)); });
  expect_broken("an empty piece", [](RawPeer& peer) {
    peer.write(RecordKind::kMessage, 0, message({.opcode = Opcode::kSend, .length = 9}, 0));
  });
}

TEST_F(HostilePeerTest, NumbersThatNameNothingBreakTheLink) {
  expect_broken("a number in use", [](RawPeer& peer) { peer.write(RecordKind::kConnect, 0, connect_bytes()); });
  expect_broken("a number far away", [](RawPeer& peer) { peer.write(RecordKind::kConnect, 1000, connect_bytes()); });
  expect_broken("a number of ours",
                [](RawPeer& peer) { peer.write(RecordKind::kConnect, kOurNumber, connect_bytes()); });
  expect_broken("a message to nobody",
                [](RawPeer& peer) { peer.write(RecordKind::kMessage, 5, message({.opcode = Opcode::kSend}, 0)); });
  expect_broken("a bye to nobody", [](RawPeer& peer) { peer.write(RecordKind::kBye, kOurNumber, {}); });
}

TEST_F(HostilePeerTest, ASecondLastWordBreaksTheLinkAfterTheFirst) {
  const auto peer = meet_and_connect();
  peer->write(RecordKind::kConnect, 1, connect_bytes());
  ASSERT_TRUE(reach([&] { return victims_.size() == 2; }));
  peer->write(RecordKind::kConfirm, 1, {});
  peer->write(RecordKind::kBye, 1, {});
  peer->write(RecordKind::kBye, 1, {});
  ASSERT_TRUE(reach([&] { return !victims_[0]->closings.empty(); }));
  EXPECT_EQ(victims_[0]->closings, std::vector{CloseReason::kProtocolError});
  EXPECT_EQ(victims_[1]->closings, std::vector{CloseReason::kBye});
}

TEST_F(HostilePeerTest, AnIndexThatMakesNoSenseBreaksTheLink) {
  for (const std::uint64_t head : {std::uint64_t{3}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    const auto peer = meet_and_connect();
    peer->segment().ring_of(Side::kAcceptor).control->head.store(head);
    const std::size_t much = 1u << 20;
    victims_[0]->queue({.opcode = Opcode::kSend, .length = much}, conformance::make_pattern(much));
    ASSERT_TRUE(reach([&] { return !victims_[0]->closings.empty(); }));
    EXPECT_EQ(victims_[0]->closings, std::vector{CloseReason::kProtocolError});
  }
}

TEST_F(HostilePeerTest, GarbageAtTheRendezvousIsHungUpOn) {
  const auto expect_hang_up = [&](const base::UniqueFd& socket) {
    std::byte data[64];
    Packet packet;
    EXPECT_TRUE(reach([&] { return receive_packet(socket.get(), data, packet) == ReceiveResult::kEnd; }));
  };
  std::mt19937 random(9);
  for (const std::size_t length : {1u, 39u, 40u, 200u, 4000u}) {
    const base::UniqueFd socket = reach_socket();
    Bytes bytes(length);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    ASSERT_TRUE(send_packet(socket.get(), bytes, {}));
    expect_hang_up(socket);
  }
  expect_still_serving();
}

// While somebody is being met, each poll asks the kernel.
TEST_F(HostilePeerTest, OneThatSaysNothingIsHungUpOn) {
  const base::UniqueFd socket = reach_socket();
  ASSERT_TRUE(reach([&] { return carrier_.parts().introductions.are_under_way(); }));
  const base::Time now = base::Clock::now();
  carrier_.turn(now);
  carrier_.turn(now + std::chrono::seconds(6));
  EXPECT_FALSE(carrier_.parts().introductions.are_under_way());
  std::byte data[64];
  Packet packet;
  EXPECT_EQ(receive_packet(socket.get(), data, packet), ReceiveResult::kEnd);
  expect_still_serving();
}

// Its kernel lets us in, but the process has been stopped.
TEST_F(HostilePeerTest, OneThatDoesNotAnswerIsGivenUpWithTheLastConnect) {
  const std::uint64_t silent_service = test_service() + 1;
  const Listening silent = Rendezvous().listen({.ipv4 = kParentAddress}, silent_service);
  ASSERT_TRUE(silent.socket);
  Peer client;
  client.connect(carrier_, {.ipv4 = kParentAddress}, silent_service);
  const base::Time now = base::Clock::now();
  carrier_.turn(now);
  carrier_.turn(now + std::chrono::seconds(9));
  EXPECT_TRUE(carrier_.parts().introductions.are_under_way());
  client.channel.reset();
  carrier_.turn(now + std::chrono::seconds(10));
  EXPECT_TRUE(carrier_.parts().introductions.are_under_way()) << "another connect may come";
  carrier_.turn(now + std::chrono::seconds(12));
  EXPECT_FALSE(carrier_.parts().introductions.are_under_way());
}

// A descriptor that would stop us when we close it.
TEST_F(HostilePeerTest, ADescriptorThatIsNoSealedMemoryIsNeitherTakenNorWaitedFor) {
  LingeringSocket lingering;
  const base::UniqueFd socket = reach_socket();
  const int fds[] = {lingering.get(), lingering.get()};
  const Bytes hello(40);
  ASSERT_TRUE(send_packet(socket.get(), hello, fds));
  lingering.let_go();
  const base::Time begin = base::Clock::now();
  std::byte data[64];
  Packet packet;
  EXPECT_TRUE(reach([&] { return receive_packet(socket.get(), data, packet) == ReceiveResult::kEnd; }));
  EXPECT_LT(base::Clock::now() - begin, LingeringSocket::kAtOnce);
  lingering.end();
  expect_still_serving();
}

TEST_F(HostilePeerTest, ADescriptorOnALinkIsRefusedOrEndsIt) {
  LingeringSocket lingering;
  const auto peer = meet_and_connect();
  const int fd = lingering.get();
  const bool is_sent = send_packet(peer->socket(), Bytes(16), std::span(&fd, 1));
  if (is_sent) {
    lingering.let_go();
    ASSERT_TRUE(reach([&] { return !victims_[0]->closings.empty(); }));
  } else {
    peer->write(RecordKind::kMessage, 0, message({.opcode = Opcode::kSend, .length = 5}, 5));
    EXPECT_TRUE(reach([&] { return victims_[0]->messages.size() == 1; }));
  }
  lingering.end();
}

// What is shared with a peer and could block is not written to: a peer that lets its queue run full harms itself.
TEST_F(HostilePeerTest, APeerThatReadsNoBellsBlocksNobody) {
  const auto peer = meet_and_connect();
  const RingMemory ring = peer->segment().ring_of(Side::kAcceptor);
  for (int i = 0; i < 5000; ++i) {
    ring.control->is_asleep.store(1);
    if (victims_[0]->is_drained()) victims_[0]->queue_send("x");
    carrier_.turn(base::Clock::now());
    peer->drain();
  }
  EXPECT_TRUE(victims_[0]->closings.empty());
  expect_still_serving();
}

TEST_F(HostilePeerTest, BellsWithoutEndKeepNobodyFromBeingServed) {
  const auto peer = meet_and_connect();
  std::atomic<bool> is_over{false};
  std::thread ringer([&] {
    while (!is_over.load()) ring_bell(peer->socket());
  });
  for (int i = 0; i < 100; ++i) expect_still_serving();
  is_over.store(true);
  ringer.join();
}

// The kernel goes on to say that somebody is there.
TEST_F(HostilePeerTest, WantOfDescriptorsCostsNoProcessorAndPasses) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "UBSan, which comes with ASan here, itself opens a pipe to look at an object's type";
#endif
  const base::UniqueFd early = reach_socket();
  ASSERT_TRUE(send_packet(early.get(), Bytes(5), {}));
  {
    const ScarceLimit descriptors(RLIMIT_NOFILE, 0);
    int woken = 0;
    for (int i = 0; i < 40; ++i) {
      carrier_.turn(base::Clock::now());
      const base::Time deadline = base::Clock::now() + std::chrono::milliseconds(5);
      carrier_.wait(deadline);
      woken += base::Clock::now() < deadline;
    }
    EXPECT_LT(woken, 20);
  }
  std::byte data[64];
  Packet packet;
  EXPECT_TRUE(reach([&] { return receive_packet(early.get(), data, packet) == ReceiveResult::kEnd; }));
  expect_still_serving();
}

// Records that are almost right, in any order.
TEST_F(HostilePeerTest, NoSequenceOfRecordsCrashesOrIsHeardTwice) {
  std::mt19937_64 random(11);
  for (int link = 0; link < 300; ++link) {
    victims_.clear();
    const auto peer = meet();
    for (int i = 0; i < 60; ++i) {
      const auto kind = static_cast<RecordKind>(random() % 11);
      const auto channel = static_cast<std::uint32_t>(random() % 3) | (random() % 16 == 0 ? kOurNumber : 0u);
      Bytes bytes;
      if (kind == RecordKind::kConnect || random() % 8 == 0) bytes = connect_bytes();
      if (kind == RecordKind::kMessage) {
        const auto length = static_cast<std::uint32_t>(random() % 40);
        bytes = message({.opcode = static_cast<Opcode>(random() % 7), .length = length},
                        random() % 8 == 0 ? random() % 50 : length);
      }
      if (kind == RecordKind::kMore) bytes.resize(random() % 40);
      if (kind == RecordKind::kTerminate) bytes.resize(3);
      if (!bytes.empty() && random() % 32 == 0) {
        bytes[random() % bytes.size()] ^= static_cast<std::byte>(1 + random() % 255);
      }
      peer->write(kind, channel, bytes);
      carrier_.turn(base::Clock::now());
      if (random() % 4 == 0 && !victims_.empty()) {
        Peer& victim = *victims_[random() % victims_.size()];
        if (random() % 4 == 0) victim.channel.reset();
        if (victim.channel && victim.is_drained()) victim.queue_send("to the hostile");
      }
      peer->drain();
    }
  }
  expect_still_serving();
}

// Another process writes anywhere in what it shares with us, at any moment.
TEST_F(HostilePeerTest, ScribblingOverTheSegmentNeverCrashes) {
  for (int round = 0; round < 40; ++round) {
    const auto peer = meet_and_connect();
    std::atomic<bool> is_over{false};
    std::thread scribbler([&] {
      std::mt19937_64 random(static_cast<std::uint64_t>(round));
      const RingMemory ring = peer->segment().ring_of(Side::kConnector);
      const RingMemory back = peer->segment().ring_of(Side::kAcceptor);
      while (!is_over.load()) {
        // Mostly where the victim is about to look.
        std::byte* at = ring.bytes + (random() % 64) * kLine;
        const std::uint64_t word = pack({.bytes = static_cast<std::uint32_t>(random() % 20000),
                                         .kind = static_cast<RecordKind>(random() % 11),
                                         .channel = static_cast<std::uint32_t>(random() % 2)});
        std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(at))
            .store(random() % 4 == 0 ? random() : word);
        if (random() % 64 == 0) back.control->head.store(random() % 4096 * kLine);
        if (random() % 64 == 0) ring.control->pulse.store(random());
        if (random() % 16 == 0) back.control->is_asleep.store(1);
      }
    });
    for (int i = 0; i < 300; ++i) {
      carrier_.turn(base::Clock::now());
      Peer& victim = *victims_[0];
      if (victim.is_drained() && victim.closings.empty()) victim.queue_send("x");
      if (i % 50 == 0) carrier_.wait(base::Clock::now());
    }
    is_over.store(true);
    scribbler.join();
    for (const auto& victim : victims_) EXPECT_LE(victim->closings.size(), 1u);
  }
  expect_still_serving();
}

}  // namespace
}  // namespace softdat::transport::shm
