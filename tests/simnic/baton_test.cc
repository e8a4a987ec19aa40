// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/baton.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <thread>
#include <vector>

#include "tests/simnic/live.h"

namespace softdat::simnic::testing {
namespace {

TEST(BatonTest, HasOneHolder) {
  Baton baton;
  ASSERT_TRUE(baton.try_take());
  EXPECT_FALSE(baton.try_take());
  baton.leave();
  EXPECT_TRUE(baton.try_take());
  baton.leave();
}

bool may_be_cancelled() {
  int state = PTHREAD_CANCEL_DISABLE;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  pthread_setcancelstate(state, nullptr);
  return state == PTHREAD_CANCEL_ENABLE;
}

TEST(BatonTest, HolderIsNotCancelledFromStayToLeave) {
  Baton baton;
  ASSERT_TRUE(baton.try_take());
  EXPECT_TRUE(may_be_cancelled());
  baton.stay();
  EXPECT_FALSE(may_be_cancelled());
  baton.stay();
  EXPECT_FALSE(may_be_cancelled());
  baton.leave();
  EXPECT_TRUE(may_be_cancelled());
  ASSERT_TRUE(baton.try_take());  // the next holder begins anew
  baton.leave();
  EXPECT_TRUE(may_be_cancelled());
  baton.take();
  EXPECT_FALSE(may_be_cancelled());
  baton.leave();
  EXPECT_TRUE(may_be_cancelled());
}

TEST(BatonTest, StayKeepsAStateThatTheCallerHasChosen) {
  Baton baton;
  int before = PTHREAD_CANCEL_ENABLE;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  baton.take();
  baton.leave();
  EXPECT_FALSE(may_be_cancelled());
  pthread_setcancelstate(before, nullptr);
}

TEST(BatonTest, ExcludesWhoeverTakesIt) {
  Baton baton;
  int counter = 0;  // guarded by the baton
  constexpr int kThreads = 4, kEach = 20'000;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kEach; ++i) {
          if (t % 2 == 0) {
            baton.take();
          } else {
            while (!baton.try_take()) std::this_thread::yield();
          }
          ++counter;
          baton.leave();
        }
      });
    }
  }
  EXPECT_EQ(counter, kThreads * kEach);
}

TEST(BatonTest, ThoseWhoInsistAreNotStarvedByThoseWhoTry) {
  Baton baton;
  std::atomic<bool> is_over{false};
  std::vector<std::jthread> pollers;
  for (int i = 0; i < 2; ++i) {
    pollers.emplace_back([&] {
      while (!is_over.load()) {
        if (baton.try_take()) baton.leave();
      }
    });
  }
  for (int i = 0; i < 1000; ++i) {
    baton.take();
    baton.leave();
  }
  is_over.store(true);
}

TEST(BatonTest, GivesWayToThoseWhoInsist) {
  Baton baton;
  baton.take();
  std::atomic<bool> has_taken{false};
  std::jthread insister([&] {
    baton.take();
    has_taken.store(true);
    baton.leave();
  });
  // Who gives it back and tries again at once lets the other in between.
  EXPECT_TRUE(await([&] {
    baton.leave();
    const bool is_done = has_taken.load();
    while (!baton.try_take()) std::this_thread::yield();
    return is_done;
  }));
  baton.leave();
}

// As where a carrier's own guard is over before the turn is.
TEST(BatonTest, AThreadThatStaysWithinAGuardCanBeCancelledAfterwards) {
  Baton baton;
  ASSERT_TRUE(baton.try_take());
  {
    const base::Uncancelled guard;
    baton.stay();
  }
  EXPECT_FALSE(may_be_cancelled()) << "it stays until it leaves";
  baton.leave();
  EXPECT_TRUE(may_be_cancelled());
}

}  // namespace
}  // namespace softdat::simnic::testing
