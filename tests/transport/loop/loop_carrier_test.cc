// SPDX-License-Identifier: BSD-2-Clause
// What only the loop can do: seeded schedules, cuts, deaths, refusals. The promises it shares with
// the other carriers are tested in tests/transport/conformance.
#include "transport/loop/loop_carrier.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <thread>

#include "tests/transport/conformance/peer.h"

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
      a.queue_send("a" + std::to_string(i));
      c.queue_send("c" + std::to_string(i));
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
