// SPDX-License-Identifier: BSD-2-Clause
#include "base/event_count.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <ctime>

#include "base/assert.h"
#include "base/lock_order.h"
#include "base/uncancelled.h"

namespace softdat::base {
namespace {

timespec to_timespec(Time deadline) {
  const auto since = deadline.time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since);
  const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(since - seconds);
  return {static_cast<time_t>(seconds.count()), static_cast<long>(rest.count())};
}

// A private futex is known by its address alone. One that is not is known by the page behind it, which registering
// memory nearby may exchange under a sleeper. FUTEX_WAIT_BITSET takes an absolute monotonic deadline, which is what
// Time is on Linux. There always is one: a wait without is resumed by the kernel after a signal whose handler was
// installed with SA_RESTART.
long futex_wait(std::atomic<std::uint32_t>* word, std::uint32_t expected, const timespec& deadline) {
  constexpr int kWait = FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG;
  return ::syscall(SYS_futex, word, kWait, expected, &deadline, nullptr, FUTEX_BITSET_MATCH_ANY);
}

// Like the C library's cancellation points: asynchronous around the system call alone. The thread may be unwound from
// any instruction between the two calls, so this frame is one of its own and holds nothing that needs unwinding.
[[gnu::noinline]] long futex_wait_cancellably(std::atomic<std::uint32_t>* word, std::uint32_t expected,
                                              const timespec& deadline) {
  int before = PTHREAD_CANCEL_DEFERRED;
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
  const long result = futex_wait(word, expected, deadline);
  const int error = errno;
  if (before == PTHREAD_CANCEL_DEFERRED) defer_cancellation();
  errno = error;
  return result;
}

WakeReason sleep_while(std::atomic<std::uint32_t>& sequence, EventCount::Ticket ticket, Time deadline,
                       long (*futex)(std::atomic<std::uint32_t>*, std::uint32_t, const timespec&)) {
  const timespec until = to_timespec(deadline);
  WakeReason reason = WakeReason::kNotified;
  // EAGAIN means that the sequence moved on before the thread slept: the loop then ends as notified.
  while (sequence.load(std::memory_order_acquire) == ticket) {
    if (futex(&sequence, ticket, until) == 0) continue;
    if (errno == EINTR) reason = WakeReason::kInterrupted;
    if (errno == ETIMEDOUT) reason = WakeReason::kTimedOut;
    if (errno != EAGAIN) break;
  }
  return reason;
}

}  // namespace

EventCount::Ticket EventCount::prepare() {
  // Announce first, then read the ticket: a notifier that misses the waiter stored its predicate before, so the
  // caller's look finds it (event_count.h).
  waiters_.fetch_add(1, std::memory_order_seq_cst);
  return sequence_.load(std::memory_order_seq_cst);
}

void EventCount::cancel() {
  [[maybe_unused]] const std::uint32_t waiters = waiters_.fetch_sub(1, std::memory_order_relaxed);
  SOFTDAT_DEBUG_CHECK(waiters > 0, "each prepare() is followed by one wait() or cancel()");
}

WakeReason EventCount::wait(Ticket ticket, Time deadline) {
  const WakeReason reason = sleep_while(sequence_, ticket, deadline, futex_wait);
  cancel();
  return reason;
}

WakeReason EventCount::wait_cancellably(Ticket ticket, Time deadline) {
  // A thread that is cancelled here is unwound from the futex; a lock would stay held.
  require_no_lock();
  const WakeReason reason = sleep_while(sequence_, ticket, deadline, futex_wait_cancellably);
  cancel();
  return reason;
}

void EventCount::notify_slow() {
  // Before the wake: a waiter that is about to sleep finds another sequence, and the kernel refuses to let it sleep.
  sequence_.fetch_add(1, std::memory_order_seq_cst);
  if (OtherSleep* const other = other_sleep_.load(std::memory_order_seq_cst)) other->end_sleep();
  ::syscall(SYS_futex, &sequence_, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace softdat::base
