// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/event_ring.h"

#include <gtest/gtest.h>

namespace softdat::object {
namespace {

// The number of an event tells its producer whether that very event is still queued.
TEST(EventRing, HoldsAnEventUntilItIsPopped) {
  EventRing ring;
  ring.set_up(2);
  Event event;
  for (int round = 0; round < 5; ++round) {
    const auto first = ring.push({nullptr, SoftwareEvent{nullptr}}, 0);
    const auto second = ring.push({nullptr, SoftwareEvent{nullptr}}, 0);
    ASSERT_TRUE(first && second);
    EXPECT_FALSE(ring.push({nullptr, SoftwareEvent{nullptr}}, 0));
    EXPECT_TRUE(ring.holds(*first) && ring.holds(*second));
    ASSERT_TRUE(ring.pop(event));
    EXPECT_FALSE(ring.holds(*first));
    EXPECT_TRUE(ring.holds(*second));
    ASSERT_TRUE(ring.resize(3));
    EXPECT_TRUE(ring.holds(*second));
    ASSERT_TRUE(ring.pop(event));
    EXPECT_FALSE(ring.holds(*second));
    ASSERT_TRUE(ring.resize(2));
  }
}

}  // namespace
}  // namespace softdat::object
