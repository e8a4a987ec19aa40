// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/timers.h"

#include <gtest/gtest.h>

namespace softdat::simnic {
namespace {

struct Alarm final : Timer {
  void on_timer_with_baton() override { ++rings; }
  int rings = 0;
};

constexpr base::Time at(int seconds) {
  return base::Time(std::chrono::seconds(seconds));
}

TEST(TimersTest, RingOnceWhenDue) {
  Timers timers;
  Alarm one, two;
  timers.set(one, at(1));
  timers.set(two, at(2));
  EXPECT_EQ(timers.next(), at(1));
  EXPECT_EQ(timers.run(at(1)), 1u);
  EXPECT_EQ(one.rings, 1);
  EXPECT_EQ(two.rings, 0);
  EXPECT_EQ(timers.run(at(5)), 1u);
  EXPECT_EQ(timers.run(at(9)), 0u);
  EXPECT_EQ(one.rings + two.rings, 2);
  EXPECT_TRUE(timers.empty());
  EXPECT_EQ(timers.next(), base::kNever);
}

TEST(TimersTest, ANewDeadlineReplacesTheOld) {
  Timers timers;
  Alarm alarm;
  timers.set(alarm, at(1));
  timers.set(alarm, at(3));
  timers.run(at(2));
  EXPECT_EQ(alarm.rings, 0);
  timers.set(alarm, base::kNever);
  EXPECT_TRUE(timers.empty());
  timers.cancel(alarm);
  timers.run(base::kNever);
  EXPECT_EQ(alarm.rings, 0);
}

}  // namespace
}  // namespace softdat::simnic
