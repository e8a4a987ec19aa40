// SPDX-License-Identifier: BSD-2-Clause
#include "base/process_fence.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/base/holds_in_child.h"

namespace softdat::base {
namespace {

class ProcessFence : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!join_fences()) GTEST_SKIP() << "this kernel has no such fences";
  }
};

TEST_F(ProcessFence, MayBeJoinedAgain) {
  EXPECT_TRUE(join_fences());
  EXPECT_TRUE(fence_everyone());
}

// Each thread stores its word and loads the other's: they may not both find zero, although one of them has no fence.
bool does_one_side_fence_both() {
  constexpr int kRounds = 20'000;
  std::atomic<int> started{0};
  std::atomic<int> ended{0};
  std::atomic<int> cheap{0};
  std::atomic<int> dear{0};
  int seen_by_cheap = 0;
  bool is_well = true;
  std::thread other([&] {
    for (int round = 1; round <= kRounds; ++round) {
      while (started.load(std::memory_order_acquire) != round) std::this_thread::yield();
      cheap.store(round, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);
      seen_by_cheap = dear.load(std::memory_order_relaxed);
      ended.store(round, std::memory_order_release);
    }
  });
  for (int round = 1; round <= kRounds; ++round) {
    started.store(round, std::memory_order_release);
    dear.store(round, std::memory_order_relaxed);
    is_well &= fence_everyone();
    const int seen = cheap.load(std::memory_order_relaxed);
    while (ended.load(std::memory_order_acquire) != round) std::this_thread::yield();
    is_well &= seen == round || seen_by_cheap == round;
  }
  other.join();
  return is_well;
}

TEST_F(ProcessFence, OneSideFencesBoth) {
  EXPECT_TRUE(does_one_side_fence_both());
}

TEST_F(ProcessFence, AChildHasJoinedWithItsParent) {
  EXPECT_TRUE(testing::holds_in_child(does_one_side_fence_both));
}

}  // namespace
}  // namespace softdat::base
