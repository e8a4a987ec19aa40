// SPDX-License-Identifier: BSD-2-Clause
#include "base/per_process.h"

#include <gtest/gtest.h>

#include <thread>

namespace softdat::base {
namespace {

constexpr LockPlace kValue{kLeafPlace, "value", "a test holds it"};

TEST(PerProcess, AProcessHasOneValue) {
  static constinit PerProcess<int, kValue> values;
  *values.lock(1) = 5;
  EXPECT_EQ(*values.lock(1), 5);
}

// As a child made by fork() finds it while another thread of its parent holds the lock.
TEST(PerProcess, AChildHasAValueOfItsOwnThatNobodyHolds) {
  static constinit PerProcess<int, kValue> values;
  *values.lock(1) = 5;
  bool is_zero = false;
  {
    const auto parents = values.lock(1);
    std::thread([&] { is_zero = *values.lock(2) == 0; }).join();
  }
  EXPECT_TRUE(is_zero);
}

}  // namespace
}  // namespace softdat::base
