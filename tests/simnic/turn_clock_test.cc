// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/turn_clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace softdat::simnic {
namespace {

using namespace std::chrono_literals;

// A poll that looks at the clock, and one that does not.
constexpr std::uint64_t kClockPoll = 4 * ProgramActivity::kPollsPerClock;
constexpr std::uint64_t kOtherPoll = kClockPoll + 1;

class TurnClockTest : public ::testing::Test {
 protected:
  void pass(base::Duration time) { clock_.advance(clock_.last_turn() + time); }

  TurnClock clock_{false};
  const std::thread::id one_ = std::this_thread::get_id();
  const std::thread::id other_ = [] {
    std::thread thread([] {});
    const std::thread::id id = thread.get_id();
    thread.join();
    return id;
  }();
};

TEST_F(TurnClockTest, LonePollerYieldsWhenNothingHasComeForLong) {
  pass(1s);
  (void)clock_.should_yield(kClockPoll, 1, one_);
  pass(2ms);
  clock_.note_done();
  pass(10us);
  EXPECT_FALSE(clock_.should_yield(kClockPoll, 0, one_));
  pass(20us);
  EXPECT_TRUE(clock_.should_yield(kClockPoll, 0, one_));
  EXPECT_FALSE(clock_.should_yield(kOtherPoll, 0, one_)) << "it does not know the time";
  EXPECT_FALSE(clock_.should_yield(kClockPoll, 1, one_)) << "it has found something";
}

TEST_F(TurnClockTest, OneOfSeveralPollersYieldsAtOnce) {
  pass(1s);
  (void)clock_.should_yield(kClockPoll, 1, one_);
  pass(2ms);
  clock_.note_done();
  ASSERT_FALSE(clock_.should_yield(kClockPoll, 0, one_)) << "it polls alone";
  (void)clock_.should_yield(kClockPoll, 1, other_);
  EXPECT_TRUE(clock_.should_yield(kClockPoll, 0, other_));
  EXPECT_FALSE(clock_.should_yield(kClockPoll, 1, other_)) << "it has found something";
  pass(900us);
  clock_.note_done();
  EXPECT_TRUE(clock_.should_yield(kClockPoll, 0, other_));
}

TEST_F(TurnClockTest, SeveralPollersWaitAsOneDoesWhereAYieldTookLong) {
  pass(1s);
  (void)clock_.should_yield(kClockPoll, 1, one_);
  pass(500us);
  clock_.note_done();
  EXPECT_TRUE(clock_.should_yield(kClockPoll, 0, other_));
  pass(200us);
  clock_.note_done();
  EXPECT_TRUE(clock_.should_yield(kClockPoll, 0, one_)) << "a short yield";
  pass(400us);
  clock_.note_done();
  EXPECT_FALSE(clock_.should_yield(kClockPoll, 0, other_)) << "a long one";
  pass(21us);
  EXPECT_TRUE(clock_.should_yield(kClockPoll, 0, one_)) << "nothing has come for long";
  pass(49ms);
  (void)clock_.should_yield(kClockPoll, 1, one_);
  (void)clock_.should_yield(kClockPoll, 1, other_);
  EXPECT_FALSE(clock_.should_yield(kClockPoll, 0, other_)) << "the yield before was long again";
  pass(51ms);
  (void)clock_.should_yield(kClockPoll, 1, one_);
  (void)clock_.should_yield(kClockPoll, 1, other_);
  EXPECT_TRUE(clock_.should_yield(kClockPoll, 0, other_));
}

TEST_F(TurnClockTest, PollerIsAloneAgainWhenTheOtherHasNotPolledForAMillisecond) {
  pass(1s);
  (void)clock_.should_yield(kClockPoll, 1, one_);
  pass(2ms);
  (void)clock_.should_yield(kClockPoll, 1, other_);
  pass(1ms);
  clock_.note_done();
  EXPECT_FALSE(clock_.should_yield(kClockPoll, 0, other_));
}

TEST_F(TurnClockTest, FirstPollerIsAloneFromItsFirstPollOn) {
  pass(1s);
  clock_.note_done();
  EXPECT_FALSE(clock_.should_yield(kClockPoll, 0, one_));
}

TEST_F(TurnClockTest, NobodyYieldsWhileTimeIsDriven) {
  TurnClock driven(true);
  driven.advance(base::Time(1s));
  EXPECT_FALSE(driven.should_yield(kClockPoll, 0, one_));
  EXPECT_FALSE(driven.should_yield(kClockPoll, 0, other_));
}

}  // namespace
}  // namespace softdat::simnic
