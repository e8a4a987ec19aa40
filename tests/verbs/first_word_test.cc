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
  const base::Time deadline = base::Clock::now() + std::chrono::seconds(30);
  while (queue_pair.state() != hca::QueuePairState::kConnected && base::Clock::now() < deadline) {
    std::this_thread::yield();
  }
  ASSERT_EQ(queue_pair.state(), hca::QueuePairState::kConnected);
}

class FirstWord {
 public:
  explicit FirstWord(const Traits& traits) : stand_(traits) {}

  void accept() {
    Stand::accept(*queue_pair_);
    await_connected(*queue_pair_);
  }
  void connect() {
    ASSERT_TRUE(queue_pair_->connect({.remote = {}, .private_data = {}}));
    await_connected(*queue_pair_);
  }
  void hear_peer() {
    ASSERT_TRUE(queue_pair_->post_recv({.wr_id = 1, .flags = 0, .local = {}}));
    fake::receive(fake::last_queue_pair(), 0);
    hca::Completion completion;
    ASSERT_EQ(queue_->poll({&completion, 1}), 1u);
  }
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

TEST(FirstWordTest, EndOfAConnectionComesAfterItsBeginning) {
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

// Who awaits as many beginnings as he has peers would take an end for one.
TEST(FirstWordTest, EndOfAConnectionComesAfterTheBeginningsOfOthersBeforeIt) {
  Stand stand(pausing({}, std::chrono::milliseconds(50)));
  Hearer consumer;
  const auto queue = stand.make_cq(8);
  const auto first = stand.make_qp(*queue, 4, &consumer);
  ibv_qp* const device_queue_pair = fake::last_queue_pair();
  const auto second = stand.make_qp(*queue, 4, &consumer);
  Stand::accept(*first);
  ASSERT_TRUE(first->post_recv({.wr_id = 1, .flags = 0, .local = {}}));
  await_connected(*first);
  fake::receive(device_queue_pair, 0);
  hca::Completion completion;
  ASSERT_EQ(queue->poll({&completion, 1}), 1u);
  EXPECT_THAT(consumer.await(1), ElementsAre(kEstablished));
  Stand::accept(*second);
  await_connected(*second);
  ASSERT_TRUE(first->disconnect(false));
  EXPECT_THAT(consumer.await(3), ElementsAre(kEstablished, kEstablished, kDisconnected));
}

TEST(FirstWordTest, DevicesWithoutAPauseTellAtOnce) {
  FirstWord side({});
  side.accept();
  EXPECT_THAT(side.consumer().await(1), ElementsAre(kEstablished));
}

}  // namespace
}  // namespace softdat::verbs
