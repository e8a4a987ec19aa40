// SPDX-License-Identifier: BSD-2-Clause
// EventCount: one futex word that sleepers wait on until "something happened". It holds no state of
// its own, so it can stand in memory shared by processes, and the dead cannot hold it.
//
// Use:   ticket = count.prepare();  if (predicate()) {count.cancel(); ...}  else count.wait(ticket,
// deadline); The notifier makes the predicate true first, then calls notify(). Who writes what:
// notifiers increment `sequence_` only while `waiters_` is not zero; waiters increment and
// decrement `waiters_`. prepare()'s increment and notify()'s load of `waiters_` are sequentially
// consistent, as must be the last store that makes the predicate true (or any seq_cst
// read-modify-write after it): either the notifier sees the waiter or the waiter sees the
// predicate.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace softdat::base {

enum class WakeReason { kNotified, kTimedOut, kInterrupted };

class EventCount {
 public:
  using Ticket = std::uint32_t;

  // Announces a waiter. Look at the predicate again afterwards, then call wait() or cancel(),
  // exactly once.
  Ticket prepare();
  void cancel();

  // Sleeps until a notify() after prepare(), the deadline, or a signal handler ran (kInterrupted), whatever
  // its SA_RESTART says.
  WakeReason wait(Ticket ticket, Time deadline);

  // The same as a cancellation point: a thread that is cancelled in its sleep is unwound from here. It then still
  // counts as a waiter, so the owner of the ticket calls cancel() on the way.
  WakeReason wait_cancellably(Ticket ticket, Time deadline);

  // Wakes every waiter; a plain load when there is none. Any thread, any process that maps the
  // word.
  void notify() {
    if (waiters_.load(std::memory_order_seq_cst) != 0) notify_slow();
  }

  // Whether wait(ticket, ...) would return at once: for those who look around a little before they
  // sleep.
  bool is_notified(Ticket ticket) const { return sequence_.load(std::memory_order_acquire) != ticket; }

  bool has_waiters() const { return waiters_.load(std::memory_order_seq_cst) != 0; }

 private:
  void notify_slow();

  std::atomic<std::uint32_t> sequence_{0};
  std::atomic<std::uint32_t> waiters_{0};
};

static_assert(sizeof(EventCount) == 8);

}  // namespace softdat::base
