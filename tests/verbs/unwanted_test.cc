// SPDX-License-Identifier: BSD-2-Clause
// Requests whose success nobody wants to hear of have completions in the device's queue all the same: they may not make
// it overflow, however many there are and however late they complete.
#include <gtest/gtest.h>

#include "tests/verbs/stand.h"

namespace softdat::verbs {
namespace {

constexpr std::uint32_t kSends = 200;

class UnwantedTest : public testing::Test {
 protected:
  // Connected.
  QueuePair& add_queue_pair(CompletionQueue& queue) {
    hearers_.push_back(std::make_unique<Hearer>());
    queue_pairs_.push_back(stand_.make_qp(queue, kSends, hearers_.back().get()));
    Stand::accept(*queue_pairs_.back());
    EXPECT_EQ(hearers_.back()->await(1).size(), 1u);
    devices_.push_back(fake::last_queue_pair());
    return *queue_pairs_.back();
  }
  static hca::Outcome post(QueuePair& queue_pair, bool is_wanted) {
    return queue_pair.post_send({.wr_id = 1, .flags = is_wanted ? hca::kSignaled : 0u, .local = {}});
  }
  // How many were taken.
  static std::uint32_t post_unwanted(QueuePair& queue_pair, std::uint32_t count) {
    std::uint32_t taken = 0;
    while (taken < count && post(queue_pair, false)) ++taken;
    return taken;
  }
  void complete_all() {
    for (ibv_qp* const device : devices_) fake::complete_sends(device, fake::sends_pending(device));
  }
  static std::size_t count_completions(CompletionQueue& queue) {
    hca::Completion completion;
    std::size_t count = 0;
    while (queue.poll({&completion, 1}) == 1) ++count;
    return count;
  }

  Stand stand_;
  std::vector<std::unique_ptr<Hearer>> hearers_;
  std::unique_ptr<CompletionQueue> queue_;
  std::vector<std::unique_ptr<QueuePair>> queue_pairs_;
  std::vector<ibv_qp*> devices_;
};

TEST_F(UnwantedTest, AllQueuePairsOfAFullQueueMayCompleteAtOnce) {
  queue_ = stand_.make_cq(8);
  for (int i = 0; i < 6; ++i) {
    QueuePair& one = add_queue_pair(*queue_);
    EXPECT_EQ(post_unwanted(one, kSends - 1), kSends - 1);
    EXPECT_TRUE(post(one, true));
  }
  complete_all();
  EXPECT_FALSE(fake::has_overflowed(queue_->cq()));
  EXPECT_EQ(count_completions(*queue_), 6u);
}

TEST_F(UnwantedTest, DeviceThatCannotGrowIsGivenNoMoreThanItHolds) {
  fake::allow_resizing(false);
  queue_ = stand_.make_cq(8);
  std::uint32_t taken = 0;
  for (int i = 0; i < 3; ++i) taken += post_unwanted(add_queue_pair(*queue_), kSends - 2);
  EXPECT_LT(taken, 3 * (kSends - 2));
  for (const auto& one : queue_pairs_) EXPECT_TRUE(post(*one, true));
  const hca::Outcome refused = post(*queue_pairs_.front(), false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.reason(), hca::Error::kLimitReached);
  complete_all();
  EXPECT_FALSE(fake::has_overflowed(queue_->cq()));
  EXPECT_TRUE(post(*queue_pairs_.front(), false)) << "what has completed leaves its place";
  EXPECT_EQ(count_completions(*queue_), 3u);
}

TEST_F(UnwantedTest, PlacesOfAQueuePairThatGoesAreFreeAgain) {
  fake::allow_resizing(false);
  queue_ = stand_.make_cq(8);
  std::uint32_t most = 0;
  for (int i = 0; i < 3; ++i) most += post_unwanted(add_queue_pair(*queue_), kSends);
  queue_pairs_.clear();
  devices_.clear();
  std::uint32_t again = 0;
  for (int i = 0; i < 3; ++i) again += post_unwanted(add_queue_pair(*queue_), kSends);
  EXPECT_EQ(again, most);
}

TEST_F(UnwantedTest, PlacesOfABrokenConnectionAreFreeAgain) {
  fake::allow_resizing(false);
  queue_ = stand_.make_cq(8);
  std::uint32_t most = 0;
  for (int i = 0; i < 3; ++i) most += post_unwanted(add_queue_pair(*queue_), kSends);
  for (std::size_t i = 0; i < queue_pairs_.size(); ++i) {
    ASSERT_TRUE(queue_pairs_[i]->disconnect(false));
    EXPECT_EQ(hearers_[i]->await(2).back(), hca::ConnectionEventType::kDisconnected);
  }
  count_completions(*queue_);
  std::uint32_t again = 0;
  for (int i = 0; i < 3; ++i) again += post_unwanted(add_queue_pair(*queue_), kSends);
  EXPECT_EQ(again, most);
}

TEST_F(UnwantedTest, QueueAsLargeAsTheDeviceHasWorksToo) {
  fake::allow_entries(1000);
  queue_ = stand_.make_cq(1000 - 32);
  EXPECT_EQ(post_unwanted(add_queue_pair(*queue_), kSends), kSends);
}

}  // namespace
}  // namespace softdat::verbs
