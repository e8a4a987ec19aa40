// SPDX-License-Identifier: BSD-2-Clause
// Connection: the connection of a queue pair, from the request to the last event: the only writer of the queue pair's
// state (queue_pair_state.h), and the target of the device's events.
//
// end_locked() is the one way into kError. The device is told to flush; the event thread sees to it that all posted
// requests complete, in order, before the consumer gets the last event: by the device if it flushes in good time,
// otherwise by us, after its ibv_qp has been destroyed. Requests that are posted later are flushed by us.
//
// Threads: all calls on any thread, but for functions that end in _locked. Only the event thread calls the sink for
// events. Lock order: mutex(), then the mutexes of the work queues, then those of completion queues and the event
// thread. The state changes under mutex(); it leaves kError under the mutexes of both work queues, too.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "verbs/cm_id.h"
#include "verbs/failure_record.h"
#include "verbs/lock_places.h"
#include "verbs/queue_pair_state.h"
#include "verbs/withheld_event.h"
#include "verbs/work_queue_pair.h"

namespace softdat::verbs {

class Connection final : public EventTarget {
 public:
  using Mutex = base::Mutex<locks::kVerbsConnection>;

  Connection(const DeviceView& device, const hca::QueuePairConfig& config, std::atomic<hca::QueuePairState>& state,
             WorkQueuePair& work);
  // Disconnects, and discards the ibv_qp with all that is posted. Afterwards the sink is not called any more.
  ~Connection();

  // As the calls of hca::QueuePair.
  hca::Outcome connect(const hca::ConnectParameters& parameters);
  hca::Outcome disconnect(bool graceful);
  hca::Outcome reset();
  hca::Address remote_address() const;
  std::uint16_t local_port() const;
  // As hca::ConnectionRequest::accept(). Takes over the id of request, which is null afterwards, unless this fails or
  // throws std::bad_alloc.
  hca::Outcome accept(CmEvent& request, std::span<const std::byte> private_data);

  bool has_told_all() const;  // as hca::QueuePair

  Mutex& mutex() { return mutex_; }
  // The event thread looks soon at all that may have changed: limits, failures, events that are due.
  void wake() { device_.events.post(*this); }
  FailureRecord& failures() { return failures_; }
  WithheldEvent& withheld() { return withheld_; }

 private:
  // The last event of a connection, until it is told: after all requests have been flushed, and after the ESTABLISHED
  // of connections that came before.
  struct FinalEvent {
    hca::ConnectionEvent event;
    base::Time flush_deadline;           // for the device to flush
    std::uint64_t last_established = 0;  // number in WithheldEstablished
    bool is_flushed = false;
  };

  hca::QueuePairState state() const { return state_.load(std::memory_order_seq_cst); }
  // EventTarget
  void on_cm_event(const CmEvent& event) override;
  void on_async_event(ibv_event_type type) override;
  void on_wake() override;

  void on_established(const CmEvent& event);
  void on_rejected(const CmEvent& event);
  void on_disconnected(const CmEvent& event);

  // False: the event is refused in the present state.
  bool advance_locked(QueuePairEvent event);
  void refuse_locked(hca::ConnectionEventType type);
  void end_locked(QueuePairEvent event, hca::ConnectionEventType type, hca::Bytes private_data = {},
                  bool is_peers_fault = false);
  void end_if_due_locked();
  // Empty: none, or not due yet; then the event thread looks again.
  std::optional<hca::ConnectionEvent> take_withheld_locked();
  std::optional<hca::ConnectionEvent> take_final_locked();

  const DeviceView device_;
  hca::QueuePairSink* const sink_;  // may be null
  std::atomic<hca::QueuePairState>& state_;
  WorkQueuePair& work_;
  FailureRecord failures_;
  std::atomic<bool> is_dying_{false};  // the destructor runs: events do nothing

  mutable Mutex mutex_;
  // Guarded by mutex_.
  CmId id_;
  WithheldEvent withheld_;
  std::optional<FinalEvent> final_;
  base::Duration drain_pause_{};  // until the next look whether a graceful disconnect has drained
};

}  // namespace softdat::verbs
