// SPDX-License-Identifier: BSD-2-Clause
#include "base/guarded.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace softdat::base {
namespace {

TEST(Guarded, ValueIsReachedByOneThreadAtATime) {
  static constexpr LockPlace kTotal{kLeafPlace, "total", "a test counts"};
  Guarded<int, kTotal> total(0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10'000; ++i) ++*total.lock();
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(*total.lock(), 40'000);
}

}  // namespace
}  // namespace softdat::base
