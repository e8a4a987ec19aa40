// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/baton.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace softdat::simnic::testing
