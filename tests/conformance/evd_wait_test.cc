// SPDX-License-Identifier: BSD-2-Clause
// dat_evd_wait, sentence by sentence (docs/CONFORMANCE.md).
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <cstring>

#include "tests/conformance/jump_out.h"
#include "tests/conformance/peer.h"
#include "tests/conformance/waiter.h"

namespace softdat::conformance {
namespace {

class EvdWait : public testing::Test {
 protected:
  static constexpr DAT_COUNT kLength = 8;

  Adapter adapter_;
  DAT_EVD_HANDLE evd_ = adapter_.make_software_evd(kLength);
  DAT_EVENT event_{};
  DAT_COUNT more_ = -1;
};

// The first event of the queue is taken, and only that one.
TEST_F(EvdWait, TakesTheFirstEventOfTheQueue) {
  post_software_event(evd_, 11);
  post_software_event(evd_, 12);
  ASSERT_THAT(dat_evd_wait(evd_, 0, 1, &event_, &more_), succeeds());
  EXPECT_EQ(software_value(event_), 11u);
  EXPECT_EQ(more_, 1);
  ASSERT_THAT(dat_evd_wait(evd_, 0, 1, &event_, &more_), succeeds());
  EXPECT_EQ(software_value(event_), 12u);
  EXPECT_EQ(more_, 0);
}

TEST_F(EvdWait, IsLeftByAHandlerWhenTheEventCannotBeWritten) {
  if (std::getenv("SOFTDAT_SANITIZE") != nullptr) GTEST_SKIP() << "the sanitizer has the EVD pinned while it writes";
  const DAT_EVD_HANDLE evd = adapter_.make_software_evd(kLength);
  for (const bool is_event : {true, false}) {
    post_software_event(evd, 13);
    jump_out_of([&](void* nowhere) {
      if (is_event)
        dat_evd_wait(evd, 0, 1, static_cast<DAT_EVENT*>(nowhere), &more_);
      else
        dat_evd_wait(evd, 0, 1, &event_, static_cast<DAT_COUNT*>(nowhere));
    });
  }
  EXPECT_THAT(dat_evd_free(evd), succeeds());
}

// The caller's structure is filled: number, dispatcher and the data that belong to the number.
TEST_F(EvdWait, FillsEveryFieldOfTheEvent) {
  std::memset(&event_, 0xa5, sizeof event_);
  post_software_event(evd_, 21);
  ASSERT_THAT(dat_evd_wait(evd_, 0, 1, &event_, &more_), succeeds());
  EXPECT_EQ(event_.event_number, DAT_SOFTWARE_EVENT);
  EXPECT_EQ(event_.evd_handle, evd_);
  EXPECT_EQ(software_value(event_), 21u);
}

TEST_F(EvdWait, BlocksUntilAnEventArrives) {
  EvdWaiter waiter(evd_, kForever);
  waiter.await_blocked();
  EXPECT_FALSE(waiter.is_done());
  post_software_event(evd_, 31);
  EXPECT_THAT(waiter.join(), succeeds());
  EXPECT_EQ(software_value(waiter.event()), 31u);
  EXPECT_EQ(waiter.more(), 0);
}

// While one waits, every other way to take events is refused, at once.
TEST_F(EvdWait, WaiterOwnsTheDispatcherExclusively) {
  EvdWaiter waiter(evd_);
  waiter.await_blocked();
  EXPECT_THAT(dat_evd_wait(evd_, kForever, 1, &event_, &more_),
              fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_WAITER));
  EXPECT_THAT(dat_evd_wait(evd_, 0, 1, &event_, &more_), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_WAITER));
  EXPECT_THAT(dat_evd_dequeue(evd_, &event_), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_WAITER));
  post_software_event(evd_, 41);
  EXPECT_THAT(waiter.join(), succeeds());
  EXPECT_EQ(software_value(waiter.event()), 41u);
}

TEST_F(EvdWait, DispatcherIsFreeAgainAfterTheWait) {
  EXPECT_THAT(dat_evd_wait(evd_, kShortWait, 1, &event_, &more_), fails_with(DAT_TIMEOUT_EXPIRED));
  post_software_event(evd_, 51);
  EXPECT_THAT(dat_evd_dequeue(evd_, &event_), succeeds());
}

// A waiter takes the place of the notification object: events that it waits for do not trigger it.
TEST_F(EvdWait, ArrivalDoesNotTriggerTheCnoWhileSomebodyWaits) {
  const DAT_CNO_HANDLE cno = adapter_.make_cno();
  ASSERT_THAT(dat_evd_modify_cno(evd_, cno), succeeds());
  EvdWaiter waiter(evd_);
  waiter.await_blocked();
  post_software_event(evd_, 61);
  ASSERT_THAT(waiter.join(), succeeds());
  DAT_EVD_HANDLE triggered = evd_;
  EXPECT_THAT(dat_cno_wait(cno, kShortWait, &triggered), is_empty_queue());
  EXPECT_EQ(triggered, DAT_HANDLE_NULL);
}

TEST_F(EvdWait, ZeroTimeoutOnAnEmptyQueueExpiresAtOnce) {
  EXPECT_THAT(dat_evd_wait(evd_, 0, 1, &event_, &more_), fails_with(DAT_TIMEOUT_EXPIRED));
  EXPECT_EQ(more_, 0);
}

TEST_F(EvdWait, ZeroTimeoutReturnsAQueuedEvent) {
  post_software_event(evd_, 71);
  EXPECT_THAT(dat_evd_wait(evd_, 0, 1, &event_, &more_), succeeds());
  EXPECT_EQ(software_value(event_), 71u);
}

TEST_F(EvdWait, TimeoutIsNotShorterThanAsked) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(dat_evd_wait(evd_, kShortWait, 1, &event_, &more_), fails_with(DAT_TIMEOUT_EXPIRED));
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::microseconds(kShortWait));
}

// Too few events when the time is up: nothing is taken, and nmore tells how many there are.
TEST_F(EvdWait, TimeoutLeavesTheEventsQueuedAndCountsThem) {
  post_software_event(evd_, 81);
  post_software_event(evd_, 82);
  EXPECT_THAT(dat_evd_wait(evd_, kShortWait, 3, &event_, &more_), fails_with(DAT_TIMEOUT_EXPIRED));
  EXPECT_EQ(more_, 2);
  EXPECT_EQ(software_value(next_event(evd_)), 81u);
  EXPECT_EQ(software_value(next_event(evd_)), 82u);
}

TEST_F(EvdWait, ThresholdHoldsTheWaiterUntilSoManyEventsAreQueued) {
  EvdWaiter waiter(evd_, kPatience, 3);
  waiter.await_blocked();
  for (std::uintptr_t value = 91; value <= 93; ++value) post_software_event(evd_, value);
  ASSERT_THAT(waiter.join(), succeeds());
  EXPECT_EQ(software_value(waiter.event()), 91u);
  // Had it returned at the first or second event, fewer would be left.
  EXPECT_EQ(waiter.more(), 2);
}

TEST_F(EvdWait, EventsQueuedBeforeTheCallCountTowardsTheThreshold) {
  for (std::uintptr_t value = 1; value <= 4; ++value) post_software_event(evd_, value);
  EXPECT_THAT(dat_evd_wait(evd_, 0, 4, &event_, &more_), succeeds());
  EXPECT_EQ(more_, 3);
}

TEST_F(EvdWait, ThresholdMayEqualTheQueueLength) {
  DAT_EVD_PARAM param{};
  ASSERT_THAT(dat_evd_query(evd_, DAT_EVD_FIELD_ALL, &param), succeeds());
  EXPECT_THAT(dat_evd_wait(evd_, 0, param.evd_qlen, &event_, &more_), fails_with(DAT_TIMEOUT_EXPIRED));
}

TEST_F(EvdWait, ThresholdBeyondTheQueueLengthIsInvalid) {
  DAT_EVD_PARAM param{};
  ASSERT_THAT(dat_evd_query(evd_, DAT_EVD_FIELD_ALL, &param), succeeds());
  EXPECT_THAT(dat_evd_wait(evd_, 0, param.evd_qlen + 1, &event_, &more_),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_THAT(dat_evd_wait(evd_, 0, 0x7fffffff, &event_, &more_), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
}

TEST_F(EvdWait, ThresholdBelowOneIsInvalid) {
  post_software_event(evd_, 1);
  for (const DAT_COUNT threshold : {0, -1, -2147483647 - 1})
    EXPECT_THAT(dat_evd_wait(evd_, 0, threshold, &event_, &more_), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_TRUE(take_event(evd_).has_value());
}

TEST_F(EvdWait, NullOutputsAreInvalid) {
  post_software_event(evd_, 1);
  EXPECT_THAT(dat_evd_wait(evd_, 0, 1, nullptr, &more_), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
  EXPECT_THAT(dat_evd_wait(evd_, 0, 1, &event_, nullptr), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
  EXPECT_TRUE(take_event(evd_).has_value());
}

// Events of one stream come out in the order in which they went in.
TEST_F(EvdWait, KeepsTheOrderOfAStream) {
  for (std::uintptr_t value = 1; value <= 3; ++value) post_software_event(evd_, value);
  for (std::uintptr_t value = 1; value <= 3; ++value) {
    ASSERT_THAT(dat_evd_wait(evd_, 0, 1, &event_, &more_), succeeds());
    EXPECT_EQ(software_value(event_), value);
  }
}

TEST_F(EvdWait, UnwaitableDispatcherRefusesTheCall) {
  ASSERT_THAT(dat_evd_set_unwaitable(evd_), succeeds());
  post_software_event(evd_, 1);
  EXPECT_THAT(dat_evd_wait(evd_, kForever, 1, &event_, &more_),
              fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_UNWAITABLE));
  ASSERT_THAT(dat_evd_clear_unwaitable(evd_), succeeds());
  EXPECT_THAT(dat_evd_wait(evd_, 0, 1, &event_, &more_), succeeds());
}

TEST_F(EvdWait, BecomingUnwaitableWakesTheWaiter) {
  EvdWaiter waiter(evd_, kForever);
  waiter.await_blocked();
  ASSERT_THAT(dat_evd_set_unwaitable(evd_), succeeds());
  EXPECT_THAT(waiter.join(), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_UNWAITABLE));
}

// The example of the page dat_evd_set_unwaitable(3DAT).
TEST_F(EvdWait, BecomingUnwaitableForAMomentWakesTheWaiterToo) {
  EvdWaiter waiter(evd_, kForever);
  waiter.await_blocked();
  ASSERT_THAT(dat_evd_set_unwaitable(evd_), succeeds());
  ASSERT_THAT(dat_evd_clear_unwaitable(evd_), succeeds());
  EXPECT_THAT(waiter.join(), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_UNWAITABLE));
}

TEST_F(EvdWait, FreeingTheDispatcherAbortsTheWaiter) {
  EvdWaiter waiter(evd_, kForever);
  waiter.await_blocked();
  ASSERT_THAT(dat_evd_free(evd_), succeeds());
  EXPECT_THAT(waiter.join(), fails_with(DAT_ABORT));
}

TEST_F(EvdWait, ClosingTheAdapterAbortsTheWaiter) {
  EvdWaiter waiter(evd_, kForever);
  waiter.await_blocked();
  ASSERT_THAT(dat_ia_close(adapter_.handle(), DAT_CLOSE_ABRUPT_FLAG), succeeds());
  adapter_.release();
  EXPECT_THAT(waiter.join(), fails_with(DAT_ABORT));
}

// A signal ends the wait; nothing is taken and nmore is defined.
TEST_F(EvdWait, SignalInterruptsTheWaiter) {
  EvdWaiter waiter(evd_, kForever, 2);
  waiter.await_blocked();
  post_software_event(evd_, 1);
  waiter.interrupt();
  EXPECT_THAT(waiter.join(), fails_with(DAT_INTERRUPTED_CALL));
  EXPECT_EQ(waiter.more(), 1);
  EXPECT_EQ(software_value(next_event(evd_)), 1u);
}

// Also by one whose handler, as signal(3) installs it, has system calls resumed.
TEST_F(EvdWait, SignalInterruptsTheWaiterThoughItsHandlerRestartsSystemCalls) {
  EvdWaiter waiter(evd_, kForever);
  waiter.await_blocked();
  waiter.interrupt(SA_RESTART);
  EXPECT_THAT(waiter.join(), fails_with(DAT_INTERRUPTED_CALL));
  EXPECT_EQ(waiter.more(), 0);
}

TEST_F(EvdWait, FreedDispatcherIsAnInvalidHandle) {
  ASSERT_THAT(dat_evd_free(evd_), succeeds());
  EXPECT_THAT(dat_evd_wait(evd_, 0, 1, &event_, &more_), fails_with(DAT_INVALID_HANDLE, kEvdSubtype));
}

// Enabling and disabling concern the CNO only; a direct waiter hears of every event.
TEST_F(EvdWait, DisabledDispatcherStillWakesItsWaiter) {
  ASSERT_THAT(dat_evd_disable(evd_), succeeds());
  EvdWaiter waiter(evd_);
  waiter.await_blocked();
  post_software_event(evd_, 5);
  EXPECT_THAT(waiter.join(), succeeds());
}

TEST_F(EvdWait, WaitersOfOtherDispatchersStayAsleep) {
  const DAT_EVD_HANDLE other = adapter_.make_software_evd(kLength);
  EvdWaiter bystander(other);
  bystander.await_blocked();
  EvdWaiter waiter(evd_);
  waiter.await_blocked();
  post_software_event(evd_, 6);
  ASSERT_THAT(waiter.join(), succeeds());
  EXPECT_THAT(dat_evd_dequeue(other, &event_), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_WAITER));
  post_software_event(other, 7);
  ASSERT_THAT(bystander.join(), succeeds());
  EXPECT_EQ(software_value(bystander.event()), 7u);
}

}  // namespace
}  // namespace softdat::conformance
