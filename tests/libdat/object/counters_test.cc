// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/counters.h"

#include <gtest/gtest.h>

namespace softdat::object {
namespace {

TEST(CounterSet, CountsFromTheLastReset) {
  CounterSet<2> counters;
  counters.add(1);
  counters.add(1);
  EXPECT_EQ(counters.since_reset(1, counters.total(1), true), 2u);
  counters.add(1);
  EXPECT_EQ(counters.since_reset(1, counters.total(1), false), 1u);
  EXPECT_EQ(counters.since_reset(0, counters.total(0), false), 0u);
}

// A thread reads the total, and another one counts and resets before the first goes on: its part is nothing, not nearly
// 2^64, and the later reset stays.
TEST(CounterSet, GivesNothingForATotalOlderThanTheReset) {
  CounterSet<1> counters;
  counters.add(0);
  const std::uint64_t older = counters.total(0);
  counters.add(0);
  ASSERT_EQ(counters.since_reset(0, counters.total(0), true), 2u);
  EXPECT_EQ(counters.since_reset(0, older, false), 0u);
  EXPECT_EQ(counters.since_reset(0, older, true), 0u);
  EXPECT_EQ(counters.since_reset(0, counters.total(0), false), 0u);
}

}  // namespace
}  // namespace softdat::object
