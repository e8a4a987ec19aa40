// SPDX-License-Identifier: BSD-2-Clause
// EventWait: how an arrival reaches a program that does not poll. It unblocks the one thread that may wait on the EVD;
// while no thread waits, it triggers the CNO.
//
// Owned by the EVD. Any thread.
//
// Which accesses pair: a thread that adds an event (to ring or completion queue), closes the EVD or makes it unwaitable
// stores that first, then notifies the event count of the queue. The waiter first calls EventCount::prepare(), then
// looks at all of it. So one of the two sees the other. has_waiter_ keeps other consumers out and the CNO quiet.
// was_notified_ says that something came that is worth unblocking for, which matters when not every completion is.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "base/event_count.h"
#include "libdat/object/event.h"
#include "libdat/object/event_counters.h"
#include "libdat/object/event_stream.h"
#include "libdat/object/status.h"

namespace softdat::object {

class CnoTrigger;
class EventQueue;
class FeedingStreams;

class EventWait {
 public:
  // All outlive this object.
  EventWait(EventQueue& queue, const FeedingStreams& streams, CnoTrigger& cno_trigger, EventCounters& counters);

  // dat_evd_wait. Writes `event` on success, `nmore` also on TIMEOUT_EXPIRED and INTERRUPTED_CALL. INVALID_STATE while
  // another thread waits. REQUIRES: the cancellation of the thread was deferred before the EVD was pinned
  // (cancellation_shield.h).
  Status wait(std::uint32_t timeout_us, std::int32_t threshold, Event& event, std::int32_t& nmore);

  // A thread is blocked in wait(), or about to be.
  bool has_waiter(std::memory_order order = std::memory_order_seq_cst) const { return has_waiter_.load(order); }

  Status set_unwaitable();    // dat_evd_set_unwaitable; the waiter gets INVALID_STATE
  Status clear_unwaitable();  // dat_evd_clear_unwaitable
  bool is_waitable() const { return !is_unwaitable_.load(); }
  // The EVD is being freed: the waiter gets DAT_ABORT.
  void close();
  bool is_closed() const { return is_closed_.load(); }

  // The event with that number was put into the queue.
  void on_event(std::uint64_t number);
  // A completion that notifies was added to the queue.
  void on_completion();

 private:
  class Claim;
  Status check_wait(std::int32_t threshold) const;
  Status wait_exclusively(base::Time deadline, std::int32_t threshold, Event& event, std::int32_t& nmore);
  std::int32_t count_left(std::int32_t threshold, std::int32_t left) const;
  // `mode`: the streams' mode when the queue was looked at last.
  bool is_worth_waking(std::int32_t threshold, NotifyMode mode) const;
  // Whether the EVD has been unwaitable since the wait began, though it may be waitable again. Called by the waiter.
  bool is_revoked() const { return is_unwaitable_.load() || revocations_.load() != revocations_seen_; }
  base::WakeReason await_news(base::Time deadline, std::int32_t threshold, NotifyMode mode);
  bool take(Event& event);
  bool spin(base::Time deadline, std::int32_t threshold, NotifyMode mode);
  void unblock_waiter();
  void trigger_cno_unless_empty();

  EventQueue& queue_;
  const FeedingStreams& streams_;
  CnoTrigger& cno_trigger_;
  EventCounters& counters_;
  const bool is_nasty_;  // the device is

  std::atomic<bool> has_waiter_{false};
  std::atomic<bool> was_notified_{false};  // a notifying event came since the wait began
  std::atomic<bool> is_unwaitable_{false};
  std::atomic<std::uint32_t> revocations_{0};  // calls of set_unwaitable()
  std::uint32_t revocations_seen_ = 0;         // of the waiter: when its wait began
  std::atomic<bool> is_closed_{false};
  std::atomic<std::uint32_t> spin_ns_{20'000};  // how long the next wait looks before it sleeps
};

}  // namespace softdat::object
