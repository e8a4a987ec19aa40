// SPDX-License-Identifier: BSD-2-Clause
// What only the loop can do: seeded schedules, cuts, deaths, refusals. The promises it shares with
// the other carriers are tested in tests/transport/conformance.
#include "transport/loop/loop_carrier.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

#include "tests/transport/conformance/peer.h"
#include "transport/loop/process_network.h"

namespace softdat::transport::loop {
namespace {

using conformance::Peer;
using conformance::PeerPort;

constexpr Address kHere{.ipv4 = 0x0a000001};
constexpr Address kThere{.ipv4 = 0x0a000002};
constexpr std::uint64_t kService = 0x1'0000'0007;

class LoopCarrierTest : public testing::Test {
 protected:
  void use(const LoopOptions& options) {
    there_.reset();
    here_.reset();
    network_ = std::make_unique<LoopNetwork>(options);
    here_ = std::make_unique<LoopCarrier>(*network_, kHere);
    there_ = std::make_unique<LoopCarrier>(*network_, kThere);
  }
  void SetUp() override { use({}); }

  void connect(Peer& active, Peer& passive) {
    PeerPort port(*there_, kService, 8);
    active.connect(*here_, kThere, kService);
    settle();
    ASSERT_EQ(port.requests.size(), 1u);
    passive.accept(*port.requests.front());
    settle();
    ASSERT_TRUE(active.is_established && passive.is_established);
  }

  // Turns both until nothing moves, letting time pass for what is delayed.
  void settle() {
    for (bool moved = true; moved;) {
      moved = here_->turn(now_) + there_->turn(now_) > 0;
      if (moved) continue;
      if (const auto due = network_->next_due()) {
        now_ = *due;
        moved = true;
      }
    }
  }

  base::Time now_{};
  std::unique_ptr<LoopNetwork> network_;
  std::unique_ptr<LoopCarrier> here_;
  std::unique_ptr<LoopCarrier> there_;
};

TEST_F(LoopCarrierTest, NothingMovesOutsideTurn) {
  Peer active, passive;
  connect(active, passive);
  active.queue_send("hello");
  EXPECT_TRUE(passive.messages.empty());
  there_->turn(now_);
  ASSERT_EQ(passive.messages.size(), 1u);
  EXPECT_EQ(passive.messages[0].text(), "hello");
}

TEST_F(LoopCarrierTest, ACutIsHeardOnceAsLostByBothSides) {
  Peer active, passive;
  connect(active, passive);
  active.queue_send("gone");
  ASSERT_EQ(network_->connections().size(), 1u);
  network_->cut(network_->connections()[0]);
  settle();
  EXPECT_EQ(active.closings, std::vector{CloseReason::kLost});
  EXPECT_EQ(passive.closings, std::vector{CloseReason::kLost});
  EXPECT_TRUE(passive.messages.empty());
  EXPECT_TRUE(network_->connections().empty());
}

TEST_F(LoopCarrierTest, AConnectCutWhilePendingIsUnreachable) {
  Peer active;
  active.connect(*here_, kThere, kService);
  network_->cut(*here_, *there_);
  settle();
  EXPECT_EQ(active.refusals, std::vector{Refusal::kUnreachable});
}

TEST_F(LoopCarrierTest, PeersOfAKilledCarrierHearLostAndItsOwnSinksNothing) {
  Peer active, passive;
  connect(active, passive);
  there_->kill();
  settle();
  EXPECT_EQ(active.closings, std::vector{CloseReason::kLost});
  EXPECT_TRUE(passive.closings.empty());
  Peer late;
  late.connect(*here_, kThere, kService);
  settle();
  EXPECT_EQ(late.refusals, std::vector{Refusal::kUnreachable});
}

TEST_F(LoopCarrierTest, ASwallowedConnectIsNeverAnsweredAndMayBeGivenUp) {
  there_->set_connect_policy(ConnectPolicy::kSwallow);
  PeerPort port(*there_, kService, 8);
  Peer active;
  active.connect(*here_, kThere, kService);
  settle();
  EXPECT_TRUE(active.refusals.empty());
  EXPECT_TRUE(port.requests.empty());
  active.channel.reset();
  settle();
  EXPECT_TRUE(network_->connections().empty());
}

TEST_F(LoopCarrierTest, ARefusingCarrierAnswersNoListener) {
  there_->set_connect_policy(ConnectPolicy::kRefuse);
  PeerPort port(*there_, kService, 8);
  Peer active;
  active.connect(*here_, kThere, kService);
  settle();
  EXPECT_EQ(active.refusals, std::vector{Refusal::kNoListener});
}

TEST_F(LoopCarrierTest, DelaysReorderChannelsButNeverWithinOne) {
  bool reordered = false;
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    use({.seed = seed, .max_delay = std::chrono::milliseconds(5), .capacity = 1u << 20});
    std::vector<std::string> log;
    Peer a, b, c, d;
    b.log = d.log = &log;
    connect(a, b);
    connect(c, d);
    for (int i = 0; i < 5; ++i) {
      a.queue_send(std::string("a").append(std::to_string(i)));
      c.queue_send(std::string("c").append(std::to_string(i)));
    }
    settle();
    std::vector<std::string> as, cs;
    for (const std::string& text : log) (text[0] == 'a' ? as : cs).push_back(text);
    EXPECT_EQ(as, (std::vector<std::string>{"a0", "a1", "a2", "a3", "a4"}));
    EXPECT_EQ(cs, (std::vector<std::string>{"c0", "c1", "c2", "c3", "c4"}));
    reordered |= log != std::vector<std::string>{"a0", "c0", "a1", "c1", "a2", "c2", "a3", "c3", "a4", "c4"};
  }
  EXPECT_TRUE(reordered);
}

TEST_F(LoopCarrierTest, TheSameSeedGivesTheSameSchedule) {
  const auto run = [this](std::uint64_t seed) {
    use({.seed = seed, .max_delay = std::chrono::microseconds(50), .max_chunk = 7, .random_chunks = true});
    std::vector<std::string> log;
    Peer a, b, c, d;
    b.log = d.log = &log;
    b.max_slice = d.max_slice = 3;
    connect(a, b);
    connect(c, d);
    for (int i = 0; i < 10; ++i) {
      a.queue_send(std::string(i * 3, 'a'));
      c.queue_send(std::string(i * 5, 'c'));
    }
    settle();
    return log;
  };
  EXPECT_EQ(run(7), run(7));
  EXPECT_NE(run(7), run(8));
}

TEST_F(LoopCarrierTest, APartialSendBlocksAndGoesOnWhereItStopped) {
  use({.capacity = 1u << 20, .max_per_send = 3});
  Peer active, passive;
  connect(active, passive);
  active.queue_send("0123456789");
  EXPECT_EQ(active.blocked_count, 1);
  settle();
  EXPECT_EQ(active.blocked_count, 3);
  ASSERT_EQ(passive.messages.size(), 1u);
  EXPECT_EQ(passive.messages[0].text(), "0123456789");
}

TEST_F(LoopCarrierTest, CarriersAtOneAddressShareItsServices) {
  LoopCarrier also_there(*network_, kThere);
  PeerPort port(*there_, kService, 8);
  PeerPort other_port(also_there, kService + 1, 8);
  PeerPort taken(also_there, kService, 8);
  EXPECT_EQ(taken.port, nullptr);
  EXPECT_EQ(taken.error, ListenError::kAddressInUse);
  Peer one, other, nobody;
  one.connect(*here_, kThere, kService);
  other.connect(*here_, kThere, kService + 1);
  nobody.connect(*here_, kThere, kService + 2);
  also_there.turn(now_);
  settle();
  EXPECT_EQ(port.requests.size(), 1u);
  EXPECT_EQ(other_port.requests.size(), 1u);
  EXPECT_EQ(nobody.refusals, std::vector{Refusal::kNoListener});
}

// That moves the lists which the turn is walking.
TEST_F(LoopCarrierTest, ASinkMayConnect) {
  PeerPort port(*there_, kService, 64);
  std::array<Peer, 40> more;
  Peer active, passive;
  active.after_established = [&] {
    for (Peer& peer : more) peer.connect(*here_, kThere, kService + 1);
  };
  active.connect(*here_, kThere, kService);
  settle();
  ASSERT_EQ(port.requests.size(), 1u);
  ASSERT_TRUE(passive.accept(*port.requests.front()));
  settle();
  EXPECT_TRUE(active.is_established);
  for (const Peer& peer : more) EXPECT_EQ(peer.refusals, std::vector{Refusal::kNoListener});
}

// Whoever polls reads the clock only now and then.
TEST_F(LoopCarrierTest, WhatIsThereIsDeliveredToWhoseClockIsBehind) {
  Peer active, passive;
  connect(active, passive);
  here_->turn(base::Time{std::chrono::seconds(10)});
  active.queue_send("early");
  here_->turn(base::Time{std::chrono::seconds(10)});
  there_->turn(base::Time{std::chrono::seconds(1)});
  ASSERT_EQ(passive.messages.size(), 1u);
  EXPECT_EQ(passive.messages[0].text(), "early");
}

TEST_F(LoopCarrierTest, EachCarrierMayHaveAThreadOfItsOwn) {
  constexpr std::size_t kMessages = 2000;
  Peer active, passive;
  connect(active, passive);
  std::atomic<bool> has_all{false};
  std::thread other([&] {
    while (passive.messages.size() < kMessages) {
      there_->wait(base::kNever);
      there_->turn(base::Time{});
    }
    has_all = true;
    here_->interrupt();
  });
  for (std::size_t i = 0; i < kMessages; ++i) {
    active.queue_send(std::to_string(i));
    here_->turn(base::Time{});
  }
  while (!has_all) {
    here_->wait(base::kNever);
    here_->turn(base::Time{});
  }
  other.join();
  for (std::size_t i = 0; i < kMessages; ++i) EXPECT_EQ(passive.messages[i].text(), std::to_string(i));
}

TEST(ProcessNetworkTest, IsOneForTheProcessAndAnotherForAChild) {
  LoopNetwork& ours = process_network();
  EXPECT_EQ(&process_network(), &ours);
  const LoopCarrier carrier(ours, kHere);
  const pid_t child = ::fork();
  if (child == 0) {
    // The parent's lock is free here, and its carriers are out of reach.
    const auto section = ours.enter();
    ::_exit(&process_network() != &ours && process_network().connections().empty() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(LoopCarrierTest, WaitEndsOnInterruptAndOnWork) {
  std::thread other([this] { here_->interrupt(); });
  here_->wait(base::kNever);
  other.join();
  PeerPort port(*there_, kService, 8);
  Peer active;
  active.connect(*here_, kThere, kService);
  there_->wait(base::kNever);
  EXPECT_EQ(there_->turn(now_), 1u);
  there_->wait(base::Clock::now());
}

}  // namespace
}  // namespace softdat::transport::loop
