// SPDX-License-Identifier: BSD-2-Clause
// Binds of windows, which a device wants invalidated before they are bound anew.
#include <gtest/gtest.h>

#include "tests/verbs/stand.h"

namespace softdat::verbs {
namespace {

class BindTest : public testing::Test {
 protected:
  BindTest() {
    stand_.memory().insert({.address = 0,
                            .length = 1000,
                            .access = hca::kLocalWrite | hca::kBindRemoteRead,
                            .domain = 1,
                            .lkey = 1,
                            .rkey = 2});
    Stand::accept(*queue_pair_);
    EXPECT_EQ(hearer_.await(1).size(), 1u);
  }
  void bind(std::uint64_t wr_id) { ASSERT_TRUE(bind_on(*queue_pair_, wr_id)); }
  hca::Result<std::uint32_t> bind_on(QueuePair& queue_pair, std::uint64_t wr_id) {
    return queue_pair.post_bind({.wr_id = wr_id,
                                 .flags = hca::kSignaled,
                                 .window = window_.get(),
                                 .lkey = 1,
                                 .address = 0,
                                 .length = 100,
                                 .access = hca::kRemoteRead});
  }
  std::vector<hca::Completion> completions() {
    std::vector<hca::Completion> all;
    for (hca::Completion one; queue_->poll({&one, 1}) == 1;) all.push_back(one);
    return all;
  }

  Stand stand_{{.has_invalidate = true, .has_windows = true}};
  Hearer hearer_;
  std::unique_ptr<CompletionQueue> queue_ = stand_.make_cq(16);
  std::unique_ptr<QueuePair> queue_pair_ = stand_.make_qp(*queue_, 16, &hearer_);
  ibv_qp* const device_ = fake::last_queue_pair();
  std::unique_ptr<hca::MemoryWindow> window_ = stand_.make_window();
};

TEST_F(BindTest, AnInvalidationThatFailsIsNotTold) {
  bind(1);
  fake::complete_sends(device_, 1);
  ASSERT_EQ(completions().size(), 1u);
  bind(2);
  ASSERT_EQ(fake::sends_pending(device_), 2u);  // the invalidation before the bind
  fake::fail_send(device_, IBV_WC_MW_BIND_ERR, 0);
  fake::fail_send(device_, IBV_WC_WR_FLUSH_ERR, 0);
  const auto told = completions();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].wr_id, 2u);
  EXPECT_EQ(told[0].status, hca::CompletionStatus::kFlushed);
}

// As after dat_ep_reset(), which gives an endpoint another queue pair.
TEST_F(BindTest, AWindowOfAQueuePairThatHasGoneIsBoundOnAnother) {
  const auto before = bind_on(*queue_pair_, 1);
  ASSERT_TRUE(before);
  fake::complete_sends(device_, 1);
  ASSERT_EQ(completions().size(), 1u);
  queue_pair_.reset();
  Hearer hearer;
  const auto other = stand_.make_qp(*queue_, 16, &hearer);
  Stand::accept(*other);
  ASSERT_EQ(hearer.await(1).size(), 1u);
  const auto after = bind_on(*other, 2);
  ASSERT_TRUE(after);
  EXPECT_NE(after.value(), before.value());
  ASSERT_EQ(fake::sends_pending(fake::last_queue_pair()), 1u) << "there is nothing to invalidate";
  fake::complete_sends(fake::last_queue_pair(), 1);
  ASSERT_EQ(completions().size(), 1u);
  EXPECT_EQ(window_->binding().rkey, after.value());
}

}  // namespace
}  // namespace softdat::verbs
