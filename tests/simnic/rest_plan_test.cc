// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/rest_plan.h"

#include <gtest/gtest.h>

#include <random>

namespace softdat::simnic::testing {
namespace {

using Next = RestPlan::Next;

class RestPlanTest : public ::testing::Test {
 protected:
  // Sleeps until the plan says, and for as long as a wake-up takes.
  Next sleep(std::uint64_t polls, bool has_watched = false) {
    now_ = plan_.wake_up_time(now_) + wake_up_;
    return plan_.after_sleep(now_, polls_ += polls, has_watched);
  }
  void begin() { plan_.begin(now_, polls_); }
  // A rest begins. In the last one the program has watched, and a message came late.
  void begin_after_late_message() {
    EXPECT_NE(sleep(0, true), Next::kPeek);
    plan_.note_late_message();
    begin();
  }
  base::Duration next_sleep() const { return plan_.wake_up_time(now_) - now_; }

  RestPlan plan_;
  base::Time now_{std::chrono::seconds(5)};
  base::Duration wake_up_{};
  std::uint64_t polls_ = 1000;
};

TEST_F(RestPlanTest, ARestIsOneSleep) {
  begin();
  EXPECT_EQ(next_sleep(), RestPlan::kRest);
  EXPECT_EQ(sleep(RestPlan::kBusyPolls), Next::kRest);
}

TEST_F(RestPlanTest, TheEngineThreadTakesOverAfterARestWithFewPolls) {
  begin();
  EXPECT_EQ(sleep(RestPlan::kBusyPolls - 1), Next::kTakeOver);
}

TEST_F(RestPlanTest, AfterALateMessageItPeeksAfterEachShortSleepInWhichTheProgramWatchesItsMemory) {
  begin_after_late_message();
  EXPECT_EQ(next_sleep(), RestPlan::kShortSleep);
  EXPECT_EQ(sleep(1), Next::kSleep);
  EXPECT_EQ(sleep(0, true), Next::kPeek);
  EXPECT_EQ(sleep(0, true), Next::kPeek);
  EXPECT_EQ(sleep(0), Next::kSleep) << "it gets no processor, or posts";
}

TEST_F(RestPlanTest, ShortSleepsMakeUpOneRestWithItsOwnCountOfPolls) {
  begin_after_late_message();
  const base::Time end = now_ + RestPlan::kRest;
  while (plan_.wake_up_time(now_) < end) ASSERT_EQ(sleep(1), Next::kSleep);
  EXPECT_EQ(sleep(1), Next::kTakeOver) << "fewer polls than a rest needs";
  EXPECT_EQ(now_, end);
}

TEST_F(RestPlanTest, TheSleepsGrowOnceAProgramHasNotWatchedForLong) {
  begin_after_late_message();
  const base::Time watched = now_;
  while (now_ - watched < RestPlan::kPatience) {
    ASSERT_EQ(next_sleep(), RestPlan::kShortSleep);
    ASSERT_EQ(sleep(RestPlan::kBusyPolls), Next::kSleep);
  }
  while (next_sleep() == RestPlan::kShortSleep) ASSERT_EQ(sleep(RestPlan::kBusyPolls), Next::kSleep);
  EXPECT_EQ(next_sleep(), (now_ - watched - RestPlan::kPatience) / 2);
  EXPECT_EQ(sleep(0), Next::kSleep);
  EXPECT_GT(next_sleep(), RestPlan::kShortSleep) << "it had no processor, or posted";
  EXPECT_EQ(sleep(0, true), Next::kPeek);
  EXPECT_EQ(next_sleep(), RestPlan::kShortSleep);
}

TEST_F(RestPlanTest, OneThatPollsOnIsDisturbedAFewTimes) {
  begin_after_late_message();
  for (int i = 0; i < 100; ++i) plan_.note_late_message();
  int short_sleeps = 0;
  for (int rests = 0; rests < 10;) {
    if (next_sleep() < RestPlan::kRest) ++short_sleeps;
    const Next next = sleep(RestPlan::kBusyPolls);
    ASSERT_NE(next, Next::kTakeOver);
    if (next != Next::kRest) continue;
    begin();
    ++rests;
  }
  EXPECT_LT(short_sleeps, 40) << "ten rests have room for 500";
  EXPECT_EQ(next_sleep(), RestPlan::kRest);
}

// On a virtual machine a wake-up took 60 us of the processor. A program that polled all the while could not do so in
// one of four of the shortest sleeps, here and there, and each peek after one of these found a message.
TEST_F(RestPlanTest, ShortSleepsDoNotBringEachOtherWhereAWakeUpTakesLongerThanTheyLast) {
  wake_up_ = std::chrono::microseconds(60);
  begin_after_late_message();
  const base::Time end = now_ + std::chrono::milliseconds(500);
  std::minstd_rand chance;
  while (now_ < end) {
    const bool is_kept_away = chance() % 4 == 0 && next_sleep() <= 2 * RestPlan::kShortSleep;
    const Next next = sleep(RestPlan::kBusyPolls, is_kept_away);
    if (next == Next::kPeek) plan_.note_late_message();
    if (next == Next::kRest) begin();
  }
  EXPECT_FALSE(plan_.is_short());
}

}  // namespace
}  // namespace softdat::simnic::testing
