// SPDX-License-Identifier: BSD-2-Clause
// EventCount: lets threads of this process sleep until a predicate may have changed. The predicate is the caller's; an
// EventCount has no state but its waiters.
//
// Waiter:    ticket = count.prepare();
//            if (predicate()) count.cancel(); else count.wait(ticket, deadline);
// Notifier:  make the predicate true, then call notify().
//
// REQUIRES of the notifier: the store that makes the predicate true is sequentially consistent, or a seq_cst
// read-modify-write follows it. prepare()'s increment and notify()'s load of `waiters_` are sequentially consistent
// too, so either the notifier sees the waiter, or the waiter sees the predicate. Waiters increment and decrement
// `waiters_`; notifiers increment `sequence_`, and only while `waiters_` is not 0.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace softdat::base {

enum class WakeReason { kNotified, kTimedOut, kInterrupted };

// A sleep that the futex of an EventCount does not end.
class OtherSleep {
 public:
  // Any thread. Ends the sleep, or the next one if there is none.
  virtual void end_sleep() = 0;

 protected:
  ~OtherSleep() = default;
};

class EventCount {
 public:
  using Ticket = std::uint32_t;

  // Announces a waiter. The caller must look at the predicate afterwards, and then call wait() or cancel() once.
  Ticket prepare();
  void cancel();

  // Sleeps until notify() is called after prepare() (kNotified), the deadline passes (kTimedOut), or a signal handler
  // has run on this thread (kInterrupted, whether or not it was installed with SA_RESTART).
  WakeReason wait(Ticket ticket, Time deadline);

  // The same, as a cancellation point. A thread that is cancelled here still counts as a waiter: a destructor that runs
  // while it unwinds must call cancel().
  WakeReason wait_cancellably(Ticket ticket, Time deadline);

  // Has notify() end this sleep too; null: no longer. For one waiter that sleeps otherwise than by wait(). The waiter
  // must call it after prepare() and before it looks at is_notified(), and with null before cancel(). A notifier may
  // call end_sleep() once more afterwards.
  void name_other_sleep(OtherSleep* sleep) { other_sleep_.store(sleep, std::memory_order_seq_cst); }

  // Wakes all waiters. Any thread. Costs one load when there is none.
  void notify() {
    if (waiters_.load(std::memory_order_seq_cst) != 0) notify_slow();
  }

  // Whether wait(ticket, ...) would return at once. For threads that spin before they sleep, and for other sleeps.
  bool is_notified(Ticket ticket) const { return sequence_.load(std::memory_order_seq_cst) != ticket; }

  bool has_waiters() const { return waiters_.load(std::memory_order_seq_cst) != 0; }

 private:
  void notify_slow();

  std::atomic<std::uint32_t> sequence_{0};
  std::atomic<std::uint32_t> waiters_{0};
  std::atomic<OtherSleep*> other_sleep_{nullptr};
};

}  // namespace softdat::base
