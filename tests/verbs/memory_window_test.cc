// SPDX-License-Identifier: BSD-2-Clause
// What a window is bound to, and whether its region knows, whatever becomes of the binds.
#include "verbs/memory_window.h"

#include <gtest/gtest.h>

namespace softdat::verbs {
namespace {

constexpr hca::WindowBinding kFirst{.rkey = 11, .lkey = 1, .address = 100, .length = 10};
constexpr hca::WindowBinding kSecond{.rkey = 12, .lkey = 2, .address = 200, .length = 20};

class WindowStateTest : public testing::Test {
 protected:
  WindowStateTest() {
    for (const std::uint32_t lkey : {kFirst.lkey, kSecond.lkey})
      table_.insert({.address = 0, .length = 1000, .lkey = lkey});
  }
  void bind(const hca::WindowBinding& binding, bool is_bound) {
    if (binding.rkey != 0) static_cast<void>(table_.retain(binding.lkey));
    state_->on_done(binding, is_bound);
  }

  MemoryTable table_;
  std::shared_ptr<WindowState> state_ = std::make_shared<WindowState>(table_, 7);
};

TEST_F(WindowStateTest, RegionIsBoundFromThePostOn) {
  ASSERT_TRUE(table_.retain(kFirst.lkey));
  EXPECT_TRUE(table_.is_bound(1));
  EXPECT_EQ(state_->binding().rkey, 0u);
  state_->on_done(kFirst, true);
  EXPECT_EQ(state_->binding().rkey, 11u);
}

TEST_F(WindowStateTest, RegionIsRevokedOrBoundAndNeverBoth) {
  ASSERT_TRUE(table_.retain(1));
  EXPECT_FALSE(table_.revoke(1));
  table_.release(1);
  EXPECT_TRUE(table_.revoke(1));
  EXPECT_FALSE(table_.retain(1));
  EXPECT_FALSE(table_.is_bound(1));
}

TEST_F(WindowStateTest, FailedBindLeavesTheOldOne) {
  bind(kFirst, true);
  bind(kSecond, false);
  EXPECT_EQ(state_->binding().rkey, 11u);
  EXPECT_FALSE(table_.is_bound(2));
}

TEST_F(WindowStateTest, RebindingAndUnbindingLetTheOldRegionGo) {
  bind(kFirst, true);
  bind(kSecond, true);
  EXPECT_FALSE(table_.is_bound(1));
  bind({}, true);
  EXPECT_FALSE(table_.is_bound(2));
  EXPECT_EQ(state_->binding().rkey, 0u);
}

TEST_F(WindowStateTest, PeerVoidsTheKeyThatIsOpen) {
  bind(kFirst, true);
  table_.add_window(state_);
  table_.void_window(12);
  EXPECT_TRUE(table_.is_bound(1));
  EXPECT_FALSE(state_->was_voided(11));
  table_.void_window(11);
  EXPECT_TRUE(state_->was_voided(11));
  EXPECT_FALSE(table_.is_bound(1));
  EXPECT_EQ(state_->binding().rkey, 0u);
}

TEST_F(WindowStateTest, BindOfAWindowThatHasGoneHoldsNothing) {
  ASSERT_TRUE(table_.retain(kFirst.lkey));
  state_->leave();
  state_->on_done(kFirst, true);
  EXPECT_FALSE(table_.is_bound(1));
}

// The receive that tells of the invalidation may be read before the completion of the bind.
TEST_F(WindowStateTest, AnInvalidationThatIsReadBeforeItsBindCounts) {
  ASSERT_TRUE(table_.retain(kFirst.lkey));
  state_->on_voided(kFirst.rkey);
  state_->on_done(kFirst, true);
  EXPECT_EQ(state_->binding().rkey, 0u);
  EXPECT_FALSE(table_.is_bound(kFirst.lkey));
  EXPECT_TRUE(state_->was_voided(kFirst.rkey));
  bind(kSecond, true);
  EXPECT_EQ(state_->binding().rkey, kSecond.rkey) << "the next bind stands";
}

}  // namespace
}  // namespace softdat::verbs
