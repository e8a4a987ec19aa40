// SPDX-License-Identifier: BSD-2-Clause
#include "base/event_count.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <thread>

namespace softdat::base {
namespace {

using namespace std::chrono_literals;

TEST(EventCount, NotifyBetweenPrepareAndWaitIsNotLost) {
  EventCount count;
  const auto ticket = count.prepare();
  count.notify();
  EXPECT_EQ(count.wait(ticket, kNever), WakeReason::kNotified);
}

TEST(EventCount, WaitEndsAtItsDeadline) {
  EventCount count;
  const auto ticket = count.prepare();
  EXPECT_EQ(count.wait(ticket, Clock::now()), WakeReason::kTimedOut);
  EXPECT_FALSE(count.has_waiters());
}

TEST(EventCount, CancelLeavesNoWaiter) {
  EventCount count;
  count.prepare();
  EXPECT_TRUE(count.has_waiters());
  count.cancel();
  EXPECT_FALSE(count.has_waiters());
}

// Two threads hand a number to and fro; a lost wake-up would hang until the test's own timeout.
TEST(EventCount, NoWakeUpIsLostBetweenTwoThreads) {
  constexpr int kRounds = 20'000;
  EventCount count;
  std::atomic<int> turn{0};
  const auto play = [&](int parity) {
    for (int i = parity; i < kRounds; i += 2) {
      while (turn.load() != i) {
        const auto ticket = count.prepare();
        if (turn.load() == i) {
          count.cancel();
        } else {
          (void)count.wait(ticket, kNever);
        }
      }
      turn.store(i + 1);
      count.notify();
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  EXPECT_EQ(turn.load(), kRounds);
}

void ignore_signal(int) {}

void expect_interrupted_by_handler_with(int flags) {
  struct sigaction action {};
  action.sa_handler = ignore_signal;
  action.sa_flags = flags;
  ASSERT_EQ(::sigaction(SIGUSR1, &action, nullptr), 0);
  EventCount count;
  std::atomic<bool> done{false};
  const pthread_t waiter = ::pthread_self();
  std::thread sender([&] {
    while (!done) {
      if (count.has_waiters()) ::pthread_kill(waiter, SIGUSR1);
      std::this_thread::yield();
    }
  });
  const auto ticket = count.prepare();
  EXPECT_EQ(count.wait(ticket, kNever), WakeReason::kInterrupted);
  done = true;
  sender.join();
}

TEST(EventCount, SignalInterruptsTheWait) {
  expect_interrupted_by_handler_with(0);
}

TEST(EventCount, SignalInterruptsTheWaitThoughItsHandlerRestartsSystemCalls) {
  expect_interrupted_by_handler_with(SA_RESTART);
}

TEST(EventCount, NotifyEndsAnOtherSleep) {
  class Flag final : public OtherSleep {
   public:
    void end_sleep() override { ++ends; }
    int ends = 0;
  };
  EventCount count;
  Flag sleep;
  const auto ticket = count.prepare();
  count.name_other_sleep(&sleep);
  EXPECT_FALSE(count.is_notified(ticket));
  count.notify();
  EXPECT_TRUE(count.is_notified(ticket));
  EXPECT_EQ(sleep.ends, 1);
  count.name_other_sleep(nullptr);
  count.notify();
  EXPECT_EQ(sleep.ends, 1);
  count.cancel();
}

}  // namespace
}  // namespace softdat::base
