// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/rest_plan.h"

#include <gtest/gtest.h>

namespace softdat::simnic::testing {
namespace {

using Next = RestPlan::Next;

class RestPlanTest : public ::testing::Test {
 protected:
  // Sleeps until the plan says, in which consumers poll so often.
  Next sleep(std::uint64_t polls, bool has_watched = false) {
    now_ = plan_.wake_up_time(now_);
    return plan_.after_sleep(now_, polls_ += polls, has_watched);
  }
  void begin() { plan_.begin(now_, polls_); }
  base::Duration next_sleep() const { return plan_.wake_up_time(now_) - now_; }

  RestPlan plan_;
  base::Time now_{std::chrono::seconds(5)};
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
  plan_.note_late_message();
  begin();
  EXPECT_EQ(next_sleep(), RestPlan::kShortSleep);
  EXPECT_EQ(sleep(1), Next::kSleep);
  EXPECT_EQ(sleep(0, true), Next::kPeek);
  EXPECT_EQ(sleep(0, true), Next::kPeek);
  EXPECT_EQ(sleep(0), Next::kSleep) << "it gets no processor, or posts";
}

TEST_F(RestPlanTest, ShortSleepsMakeUpOneRestWithItsOwnCountOfPolls) {
  plan_.note_late_message();
  begin();
  const auto sleeps = RestPlan::kRest / RestPlan::kShortSleep;
  for (int i = 1; i < sleeps; ++i) ASSERT_EQ(sleep(1), Next::kSleep);
  EXPECT_EQ(sleep(1), Next::kTakeOver) << "fewer polls than a rest needs";
}

TEST_F(RestPlanTest, OneThatPollsOnIsDisturbedNoMoreThanTheSleepsThatWereEarned) {
  for (int i = 0; i < 100; ++i) plan_.note_late_message();
  begin();
  std::uint32_t short_sleeps = 0;
  while (next_sleep() <= RestPlan::kShortSleep) {
    ASSERT_LE(++short_sleeps, RestPlan::kMostShortSleeps);
    const Next next = sleep(RestPlan::kBusyPolls);
    ASSERT_NE(next, Next::kTakeOver);
    if (next == Next::kRest) begin();
  }
  EXPECT_EQ(short_sleeps, RestPlan::kMostShortSleeps);
}

}  // namespace
}  // namespace softdat::simnic::testing
