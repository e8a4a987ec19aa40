// SPDX-License-Identifier: BSD-2-Clause
// EVD: where events of several streams are collected. DTO completions wait in a completion queue of
// the device, all other events in a ring of the same length.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "base/clock.h"
#include "base/event_count.h"
#include "hca/device.h"
#include "libdat/object/counters.h"
#include "libdat/object/event.h"
#include "libdat/object/event_ring.h"
#include "libdat/object/event_stream.h"
#include "libdat/object/handle_table.h"
#include "libdat/object/object.h"
#include "libdat/object/status.h"
#include "libdat/object/use_count.h"

namespace softdat::object {

class ConsumerNotification;

// Calls from any thread unless said otherwise. Argument numbers in a Status are those of the DAT
// function of the same name.
class EventDispatcher final : public Object, private hca::CompletionSink {
 public:
  static constexpr Kind kKind = Kind::kEvd;
  ~EventDispatcher() override;

  // dat_evd_create. `cno` may be null.
  static Status create(InterfaceAdapter& ia, std::int32_t min_qlen, ConsumerNotification* cno, std::uint32_t streams,
                       Handle& evd);

  // The asynchronous EVD of an IA that is being opened; the IA's own stream feeds it.
  static Status create_async(InterfaceAdapter& ia, std::int32_t min_qlen, std::shared_ptr<EventDispatcher>& evd);

  // dat_evd_free. INVALID_STATE while streams feed it. A blocked waiter leaves with DAT_ABORT;
  // connection requests that wait unseen are refused.
  static Status free(Pin<EventDispatcher> evd);

  // dat_evd_dequeue. QUEUE_EMPTY (bare for DTO and RMR EVDs) or INVALID_STATE while a thread is
  // blocked in wait(). Progresses the device when there is nothing at first sight.
  Status dequeue(Event& event);

  // dat_evd_wait. `event` is written on success; `nmore` also on TIMEOUT_EXPIRED and
  // INTERRUPTED_CALL. The caller holds a CancellationShield from before it pinned the EVD.
  Status wait(std::uint32_t timeout_us, std::int32_t threshold, Event& event, std::int32_t& nmore);

  // dat_evd_post_se. QUEUE_FULL changes nothing and raises no asynchronous error; INVALID_HANDLE
  // when the EVD takes no software events.
  Status post_software(void* pointer);

  Status enable();                               // dat_evd_enable
  Status disable();                              // dat_evd_disable
  Status set_unwaitable();                       // dat_evd_set_unwaitable
  Status clear_unwaitable();                     // dat_evd_clear_unwaitable
  Status modify_cno(ConsumerNotification* cno);  // dat_evd_modify_cno; null detaches
  Status resize(std::int32_t min_qlen);          // dat_evd_resize
  EventDispatcherParameters query() const;       // dat_evd_query

  // One of evd_counter, which is then set to 0 if asked.
  std::uint64_t counter(std::size_t which, bool reset);

  // --- For the other objects of this room ---

  bool takes(std::uint32_t streams) const { return (streams_ & streams) == streams; }
  std::int32_t qlen() const { return qlen_.load(std::memory_order_relaxed); }
  hca::Device& device() const { return *device_; }
  // Null unless the EVD takes DTO or RMR streams.
  hca::CompletionQueue* completion_queue() const { return cq_.get(); }

  // A stream begins or ends to feed the EVD. False when the EVD is being freed.
  [[nodiscard]] bool add_stream() { return streams_in_use_.try_acquire(); }
  void remove_stream() { streams_in_use_.release(); }

  // The same for a completion stream of an endpoint. INVALID_HANDLE with `handle` when the EVD is being freed or takes
  // no DTO stream.
  Status add_dto_stream(NotifyMode mode, StatusDetail handle);
  void remove_dto_stream(NotifyMode mode);

  // An event of a stream that is not DTO arrives; `event.evd` is filled in here. False when the ring
  // is full: the event is lost, and unless it was a connection request the IA's asynchronous EVD is
  // told once.
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
  bool take(Event& event);
  bool progress_and_take(Event& event);
  bool take_after_progress(Event& event);
  bool take_completion(Event& event);
  bool take_in_order(Event& event);
  std::int32_t count() const;
  Status empty_status() const;
  void arm();
  bool note_modes_locked();
  void notify_waiter();
  void notify_arrival(std::uint64_t number);
  void trigger_cno_unless_empty();
  void trigger_cno();
  void report_overflow();
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
  base::EventCount own_wake_;
  base::EventCount* wake_ = &own_wake_;  // the CQ's when there is one

  // Written by many, each for itself: see event_wait.cc for who pairs with whom.
  std::atomic<std::int32_t> qlen_{0};
  std::atomic<bool> has_waiter_{false};
  std::atomic<bool> is_unwaitable_{false};
  std::atomic<bool> is_closing_{false};
  std::atomic<bool> was_notified_{false};  // a notifying event came since the waiter began
  std::atomic<bool> has_overflowed_{false};
  std::atomic<NotifyMode> mode_{NotifyMode::kThreshold};  // modes_.strictest()
  std::atomic<bool> is_solicited_only_{false};            // modes_.are_all_solicited()
  std::atomic<std::uint32_t> spin_ns_{20'000};
  UseCount streams_in_use_;
  CounterSet<evd_counter::kCount> counters_;

  EventRing ring_;  // locks itself

  // One resize() at a time, and nobody begins to wait for several events meanwhile. The first lock of all.
  std::mutex resize_mutex_;
  std::int32_t awaited_ = 0;  // guarded by it: how many events the waiter waits for, if more than one

  // Guarded by mutex_ (taken before a CNO's lock, never while a device is called).
  mutable std::mutex mutex_;
  std::shared_ptr<ConsumerNotification> cno_;
  bool is_enabled_ = true;
  StreamModes modes_;
};

}  // namespace softdat::object
