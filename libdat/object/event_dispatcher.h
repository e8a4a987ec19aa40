// SPDX-License-Identifier: BSD-2-Clause
// EVD: collects the events of several streams. DTO completions wait in a completion queue of the device, all other
// events in a ring of the same length.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "base/clock.h"
#include "base/counter_file.h"
#include "base/event_count.h"
#include "hca/device.h"
#include "libdat/object/counters.h"
#include "libdat/object/event.h"
#include "libdat/object/event_ring.h"
#include "libdat/object/event_stream.h"
#include "libdat/object/handle_table.h"
#include "libdat/object/lock_places.h"
#include "libdat/object/object.h"
#include "libdat/object/status.h"
#include "libdat/object/use_count.h"

namespace softdat::object {

class ConsumerNotification;

// All calls from any thread. Argument numbers in a Status are those of the DAT function of the same name. Lock order:
// docs/THREADS.md.
class EventDispatcher final : public Object, private hca::CompletionSink {
 public:
  static constexpr Kind kKind = Kind::kEvd;
  ~EventDispatcher() override;

  // dat_evd_create. `cno` may be null.
  static Status create(InterfaceAdapter& ia, std::int32_t min_qlen, ConsumerNotification* cno, std::uint32_t streams,
                       Handle& evd);

  // The asynchronous EVD of an IA that is being opened; the IA's own stream feeds it.
  static Status create_async(InterfaceAdapter& ia, std::int32_t min_qlen, std::shared_ptr<EventDispatcher>& evd);

  // dat_evd_free. INVALID_STATE while streams feed it. A blocked waiter gets DAT_ABORT; connection requests whose
  // events wait here are refused.
  static Status free(Pin<EventDispatcher> evd);

  // dat_evd_dequeue. QUEUE_EMPTY (bare for DTO and RMR EVDs); INVALID_STATE while a thread is blocked in wait(). If
  // there is no event it makes the device's progress and looks again.
  Status dequeue(Event& event);

  // The fast path of dequeue(): a completion reaches the caller without becoming an Event. kNothing: the answer is
  // no_completion(). kOther: call dequeue(). REQUIRES: an ExclusivePin.
  enum class Dequeued : std::uint8_t { kNothing, kCompletion, kOther };
  Dequeued dequeue_completion(hca::Completion& out);
  // Stock providers return this bare code for EVDs with DTO or RMR streams, and a stock program compares with it.
  static constexpr Status no_completion() { return queue_empty(true); }

  // dat_evd_wait. Writes `event` on success, `nmore` also on TIMEOUT_EXPIRED and INTERRUPTED_CALL. REQUIRES: the
  // cancellation of the thread was deferred before the EVD was pinned (cancellation_shield.h).
  Status wait(std::uint32_t timeout_us, std::int32_t threshold, Event& event, std::int32_t& nmore);

  // dat_evd_post_se. QUEUE_FULL: no effect and no asynchronous error. INVALID_HANDLE: the EVD takes no software events.
  Status post_software(void* pointer);

  Status enable();                               // dat_evd_enable
  Status disable();                              // dat_evd_disable
  Status set_unwaitable();                       // dat_evd_set_unwaitable
  Status clear_unwaitable();                     // dat_evd_clear_unwaitable
  Status modify_cno(ConsumerNotification* cno);  // dat_evd_modify_cno; null detaches
  Status resize(std::int32_t min_qlen);          // dat_evd_resize
  EventDispatcherParameters query() const;       // dat_evd_query

  // A counter of evd_counter. Resets it if asked.
  std::uint64_t counter(std::size_t which, bool reset);
  // What the tools of the user see of the EVD (counter_publisher.h).
  base::EvdRecord counters_now();

  // --- For the other objects of this room ---

  std::uint32_t streams() const { return streams_; }
  bool takes(std::uint32_t streams) const { return (streams_ & streams) == streams; }
  std::int32_t qlen() const { return qlen_.load(std::memory_order_relaxed); }
  // How many events wait to be dequeued, of one moment.
  std::int32_t pending() const { return count(); }
  // Whether it has lost a completion for want of room.
  bool has_overflowed() const { return has_overflowed_.load(std::memory_order_relaxed); }
  hca::Device& device() const { return *device_; }
  // Null if the EVD takes no DTO or RMR streams.
  hca::CompletionQueue* completion_queue() const { return cq_.get(); }

  // Adds and removes a stream that feeds the EVD. False if the EVD is being freed.
  [[nodiscard]] bool add_stream() { return streams_in_use_.try_acquire(); }
  void remove_stream() { streams_in_use_.release(); }

  // The same for a completion stream of an endpoint. INVALID_HANDLE with `handle` if the EVD is being freed or takes no
  // DTO stream.
  Status add_dto_stream(NotifyMode mode, StatusDetail handle);
  void remove_dto_stream(NotifyMode mode);

  // Adds an event of a stream other than DTO, and fills in `event.evd`. False if the ring is full: the event is lost,
  // and the IA's asynchronous EVD gets an overflow event once, unless it was a connection request.
  bool post(Event event);

 private:
  class Waiter;
  EventDispatcher(InterfaceAdapter& ia, std::uint32_t streams);
  Status set_up(std::int32_t qlen, ConsumerNotification* cno);

  // hca::CompletionSink
  void on_completion() override;
  void on_overflow() override;
  // Object
  void on_closing() override;
  void detach() override;

  // event_dispatcher.cc
  Status dequeue_other(Event& event);
  bool take(Event& event);
  bool take_completion(Event& event);
  bool take_in_order(Event& event);
  std::int32_t count() const;
  std::int32_t count_left(std::int32_t threshold) const;
  void arm();
  bool note_modes_locked();
  void notify_waiter();
  void notify_arrival(std::uint64_t number);
  void trigger_cno_unless_empty();
  void trigger_cno();
  void report_overflow();
  void tell_overflow() const;
  void discard_events();

  // event_wait.cc
  Status check_wait(std::int32_t threshold) const;
  Status wait_exclusively(base::Time deadline, std::int32_t threshold, Event& event, std::int32_t& nmore);
  bool must_leave() const { return is_closing_.load() || is_unwaitable_.load(); }
  bool is_worth_waking(std::int32_t threshold) const;
  base::WakeReason await_news(base::Time deadline, std::int32_t threshold);
  bool spin(base::Time deadline, std::int32_t threshold);

  // Fixed after set_up().
  const std::uint32_t streams_;
  std::shared_ptr<hca::Device> device_;
  std::unique_ptr<hca::CompletionQueue> cq_;  // null without DTO and RMR streams
  bool is_nasty_ = false;                     // the device is
  base::EventCount own_wake_;
  base::EventCount* wake_ = &own_wake_;  // the completion queue's, if there is one

  // Written by several threads; event_wait.cc says which accesses pair.
  std::atomic<std::int32_t> qlen_{0};
  std::atomic<bool> has_waiter_{false};
  std::atomic<bool> is_unwaitable_{false};
  std::atomic<bool> is_closing_{false};
  std::atomic<bool> was_notified_{false};  // a notifying event came since the wait began
  std::atomic<bool> has_overflowed_{false};
  std::atomic<NotifyMode> mode_{NotifyMode::kThreshold};  // modes_.strictest()
  std::atomic<bool> is_solicited_only_{false};            // modes_.are_all_solicited()
  std::atomic<std::uint32_t> spin_ns_{20'000};
  UseCount streams_in_use_;
  CounterSet<evd_counter::kCount> counters_;

  EventRing ring_;  // has its own lock

  // Held by resize(), and by a thread that begins to wait for several events. Taken before all other locks.
  base::Mutex<locks::kResize> resize_mutex_;
  std::int32_t awaited_ = 0;  // guarded by resize_mutex_: how many events the waiter waits for, if more than one

  // Guarded by mutex_ (taken before a CNO's lock, not held while a device is called).
  mutable base::Mutex<locks::kEventDispatcher> mutex_;
  std::shared_ptr<ConsumerNotification> cno_;
  bool is_enabled_ = true;
  StreamModes modes_;
};

}  // namespace softdat::object
