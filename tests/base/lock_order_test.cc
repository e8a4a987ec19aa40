// SPDX-License-Identifier: BSD-2-Clause
// A Debug build aborts where a thread waits for a lock out of order; other builds take the locks and nothing more.
#include "base/lock_order.h"

#include <gtest/gtest.h>

#include <mutex>

#include "base/spin_lock.h"

namespace softdat::base {
namespace {

constexpr LockPlace kOuter{10, "outer", "a test runs"};
constexpr LockPlace kGuard{20, "guard", "a test runs"};
constexpr LockPlace kInner{30, "inner", "a test runs", true, &kGuard};
constexpr LockPlace kBetween{25, "between", "a test runs"};

struct Locks {
  Mutex<kOuter> outer;
  Mutex<kGuard> guard;
  Ordered<SpinLock, kInner> inner, other;
  Mutex<kBetween> between;
};

TEST(LockOrder, LocksInOrderAreTakenAndGivenBackInAnyOrder) {
  Locks locks;
  for (int i = 0; i < 2; ++i) {
    locks.outer.lock();
    locks.inner.lock();
    locks.other.lock();  // of a place that has several
    locks.outer.unlock();
    EXPECT_FALSE(locks.inner.try_lock());
    locks.inner.unlock();
    locks.other.unlock();
  }
}

TEST(LockOrder, ATryIsNotAWait) {
  Locks locks;
  const std::lock_guard inner(locks.inner);
  EXPECT_TRUE(locks.outer.try_lock());
  locks.outer.unlock();
}

TEST(LockOrder, UnderTheGuardTheOrderIsFree) {
  Locks locks;
  const std::lock_guard guard(locks.guard);
  const std::lock_guard inner(locks.inner);
  const std::lock_guard between(locks.between);
}

#ifndef NDEBUG
TEST(LockOrderDeathTest, NamesBothLocksOfAWaitOutOfOrder) {
  Locks locks;
  const std::lock_guard guard(locks.guard);
  EXPECT_DEATH(locks.outer.lock(), "outer \\(10\\) is waited for, and guard \\(20\\) is held");
}

TEST(LockOrderDeathTest, WithoutTheGuardTheOrderCounts) {
  Locks locks;
  const std::lock_guard inner(locks.inner);
  EXPECT_DEATH(locks.between.lock(), "between \\(25\\) is waited for, and inner \\(30\\) is held");
}

TEST(LockOrderDeathTest, WhatATryTookCounts) {
  Locks locks;
  ASSERT_TRUE(locks.between.try_lock());
  EXPECT_DEATH(locks.outer.lock(), "outer \\(10\\) is waited for, and between \\(25\\) is held");
  locks.between.unlock();
}

TEST(LockOrderDeathTest, OnlyItsHolderGivesBackALock) {
  Locks locks;
  EXPECT_DEATH(locks.outer.unlock(), "the thread that gives back a lock has taken it");
}
#endif

}  // namespace
}  // namespace softdat::base
