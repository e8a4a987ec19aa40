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
    ring.reserve(3);
    ring.set_capacity(3);
    EXPECT_TRUE(ring.holds(*second));
    ASSERT_TRUE(ring.pop(event));
    EXPECT_FALSE(ring.holds(*second));
    ring.set_capacity(2);
  }
}

TEST(EventRing, KeepsWhatWaitsWhenItsCapacityShrinks) {
  const Event event{nullptr, SoftwareEvent{nullptr}};
  EventRing ring;
  ring.set_up(2);
  ASSERT_TRUE(ring.push(event, 0) && ring.push(event, 0));
  ring.set_capacity(1);
  Event taken;
  EXPECT_TRUE(ring.pop(taken));
  EXPECT_FALSE(ring.push(event, 0)) << "one waits, which is all that may";
  EXPECT_TRUE(ring.pop(taken));
  EXPECT_TRUE(ring.push(event, 0));
  ring.set_capacity(0);
  EXPECT_FALSE(ring.push(event, 0));
  EXPECT_TRUE(ring.pop(taken)) << "what waited can be taken";
}

TEST(EventRing, ReservingChangesNothing) {
  const Event event{nullptr, SoftwareEvent{nullptr}};
  EventRing ring;
  ring.set_up(1);
  ASSERT_TRUE(ring.push(event, 0));
  ring.reserve(4);
  EXPECT_FALSE(ring.push(event, 0));
  ring.set_capacity(2);
  EXPECT_TRUE(ring.push(event, 0));
}

}  // namespace
}  // namespace softdat::object
