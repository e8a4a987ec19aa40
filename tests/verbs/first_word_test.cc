// SPDX-License-Identifier: BSD-2-Clause
// Where a device loses what comes too close behind the reply of a handshake, the consumer hears of the connection
// later: when the peer has spoken, or after a pause.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/verbs/stand.h"

namespace softdat::verbs {
namespace {

using testing::ElementsAre;
using enum hca::ConnectionEventType;

// Longer than any test.
constexpr base::Duration kForEver = std::chrono::hours(24);

Traits pausing(base::Duration initiator, base::Duration responder) {
  Traits traits;
  traits.is_iwarp = true;
  traits.pause_of_initiator = initiator;
  traits.pause_of_responder = responder;
  return traits;
}

// As the device has it.
void await_connected(const QueuePair& queue_pair) {
  const base::Time deadline = base::Clock::now() + std::chrono::seconds(240);
  while (queue_pair.state() != hca::QueuePairState::kConnected && base::Clock::now() < deadline) {
    std::this_thread::yield();
  }
  ASSERT_EQ(queue_pair.state(), hca::QueuePairState::kConnected);
}

// The first message of the peer's comes, and is taken.
void hear_peer(QueuePair& queue_pair, ibv_qp* device_queue_pair, CompletionQueue& queue) {
  ASSERT_TRUE(queue_pair.post_recv({.wr_id = 1, .flags = 0, .local = {}}));
  fake::receive(device_queue_pair, 0);
  hca::Completion completion;
  ASSERT_EQ(queue.poll({&completion, 1}), 1u);
}

class FirstWord {
 public:
  explicit FirstWord(const Traits& traits) : stand_(traits) {}

  void accept() {
    Stand::accept(*queue_pair_);
    await_connected(*queue_pair_);
  }
  void hear_peer() { verbs::hear_peer(*queue_pair_, fake::last_queue_pair(), *queue_); }
  QueuePair& queue_pair() { return *queue_pair_; }
  Hearer& consumer() { return consumer_; }

 private:
  Stand stand_;
  Hearer consumer_;
  std::unique_ptr<CompletionQueue> queue_ = stand_.make_cq(8);
  std::unique_ptr<QueuePair> queue_pair_ = stand_.make_qp(*queue_, 4, &consumer_);
};

TEST(FirstWordTest, ResponderHearsOfTheConnectionWithThePeersFirstMessage) {
  FirstWord side(pausing({}, kForEver));
  side.accept();
  EXPECT_THAT(side.consumer().await(0), ElementsAre());
  side.hear_peer();
  EXPECT_THAT(side.consumer().await(1), ElementsAre(kEstablished));
}

TEST(FirstWordTest, ResponderOfASilentPeerHearsOfTheConnectionAfterThePause) {
  FirstWord side(pausing(kForEver, std::chrono::milliseconds(1)));
  side.accept();
  EXPECT_THAT(side.consumer().await(1), ElementsAre(kEstablished));
}

TEST(FirstWordTest, DisconnectedComesAfterEstablished) {
  FirstWord side(pausing({}, kForEver));
  side.accept();
  ASSERT_TRUE(side.queue_pair().disconnect(false));
  EXPECT_THAT(side.consumer().await(2), ElementsAre(kEstablished, kDisconnected));
}

TEST(FirstWordTest, ConnectionThatALimitBreaksAtOnceHasBegunToo) {
  FirstWord side(pausing({}, kForEver));
  ASSERT_TRUE(side.queue_pair().post_recv({.wr_id = 1, .flags = 0, .local = {}}));
  side.queue_pair().set_recv_limits(hca::kNoRecvLimit, 0);
  Stand::accept(side.queue_pair());
  EXPECT_THAT(side.consumer().await(2), ElementsAre(kEstablished, kBroken));
}

TEST(FirstWordTest, EveryLifeOfAQueuePairIsHeldBack) {
  FirstWord side(pausing({}, kForEver));
  side.accept();
  side.hear_peer();
  EXPECT_THAT(side.consumer().await(1), ElementsAre(kEstablished));
  ASSERT_TRUE(side.queue_pair().disconnect(false));
  EXPECT_THAT(side.consumer().await(2), ElementsAre(kEstablished, kDisconnected));
  ASSERT_TRUE(side.queue_pair().reset());
  side.accept();
  EXPECT_THAT(side.consumer().await(2), ElementsAre(kEstablished, kDisconnected));
  side.hear_peer();
  EXPECT_THAT(side.consumer().await(3), ElementsAre(kEstablished, kDisconnected, kEstablished));
}

// Two connections over one device.
class TwoOfThem {
 public:
  explicit TwoOfThem(const Traits& traits) : stand_(traits) {}

  // The first one's peer speaks, the second one's does not.
  void establish() {
    Stand::accept(*first_);
    await_connected(*first_);
    verbs::hear_peer(*first_, device_queue_pair_, *queue_);
    EXPECT_THAT(consumer_.await(1), ElementsAre(kEstablished));
    Stand::accept(*second_);
    await_connected(*second_);
  }
  QueuePair& first() { return *first_; }
  Hearer& consumer() { return consumer_; }

 private:
  Stand stand_;
  Hearer consumer_;
  std::unique_ptr<CompletionQueue> queue_ = stand_.make_cq(8);
  std::unique_ptr<QueuePair> first_ = stand_.make_qp(*queue_, 4, &consumer_);
  ibv_qp* const device_queue_pair_ = fake::last_queue_pair();
  std::unique_ptr<QueuePair> second_ = stand_.make_qp(*queue_, 4, &consumer_);
};

// A program that awaits as many ESTABLISHED as it has peers would count DISCONNECTED as one.
TEST(FirstWordTest, DisconnectedComesAfterEstablishedOfEarlierConnections) {
  TwoOfThem both(pausing({}, std::chrono::milliseconds(50)));
  both.establish();
  ASSERT_TRUE(both.first().disconnect(false));
  EXPECT_THAT(both.consumer().await(3), ElementsAre(kEstablished, kEstablished, kDisconnected));
}

TEST(FirstWordTest, EndDoesNotWaitForOthersOnceItsQueuePairBeginsANewLife) {
  TwoOfThem both(pausing({}, kForEver));
  both.establish();
  ASSERT_TRUE(both.first().disconnect(false));
  ASSERT_TRUE(both.first().reset());
  EXPECT_THAT(both.consumer().await(2), ElementsAre(kEstablished, kDisconnected));
}

TEST(FirstWordTest, DevicesWithoutAPauseTellAtOnce) {
  FirstWord side({});
  side.accept();
  EXPECT_THAT(side.consumer().await(1), ElementsAre(kEstablished));
}

}  // namespace
}  // namespace softdat::verbs
