// SPDX-License-Identifier: BSD-2-Clause
#include "base/timers.h"

#include <gtest/gtest.h>

namespace softdat::base {
namespace {

struct Alarm final : Timer {
  void on_timer() override { ++rings; }
  int rings = 0;
};

constexpr Time at(int seconds) {
  return Time(std::chrono::seconds(seconds));
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
  EXPECT_EQ(timers.next(), kNever);
}

TEST(TimersTest, ANewDeadlineReplacesTheOld) {
  Timers timers;
  Alarm alarm;
  timers.set(alarm, at(1));
  timers.set(alarm, at(3));
  timers.run(at(2));
  EXPECT_EQ(alarm.rings, 0);
  timers.set(alarm, kNever);
  EXPECT_TRUE(timers.empty());
  alarm.cancel_timer();
  timers.run(kNever);
  EXPECT_EQ(alarm.rings, 0);
}

TEST(TimersTest, WhatIsSetAfterBeginsToRunWhenTheTimeIsKnown) {
  Timers timers;
  Alarm first, second;
  timers.set_after(second, std::chrono::seconds(3));
  timers.set_after(first, std::chrono::seconds(2));
  EXPECT_FALSE(timers.empty());
  EXPECT_EQ(timers.next(), kNever);
  timers.start(at(100));
  EXPECT_EQ(timers.next(), at(102));
  timers.start(at(101));  // they run already
  EXPECT_EQ(timers.run(at(102)), 1u);
  EXPECT_EQ(first.rings, 1);
  EXPECT_EQ(timers.run(at(103)), 1u);
  EXPECT_EQ(second.rings, 1);
}

// A timer that sets itself for no time at all rings once in each run.
TEST(TimersTest, WhatIsSetByATimerBeginsToRunInTheNextRun) {
  Timers timers;
  struct Again final : Timer {
    explicit Again(Timers& in) : timers(in) {}
    void on_timer() override {
      ++rings;
      timers.set_after(*this, Duration{});
    }
    Timers& timers;
    int rings = 0;
  } again(timers);
  timers.set_after(again, Duration{});
  EXPECT_EQ(timers.run(at(1)), 1u);
  EXPECT_EQ(timers.run(at(1)), 1u);
  EXPECT_EQ(again.rings, 2);
}

TEST(TimersTest, ItsEndCancelsATimer) {
  Timers timers;
  {
    Alarm gone, waiting;
    timers.set(gone, at(1));
    timers.set_after(waiting, std::chrono::seconds(1));
  }
  EXPECT_TRUE(timers.empty());
  EXPECT_EQ(timers.run(at(9)), 0u);
}

}  // namespace
}  // namespace softdat::base
