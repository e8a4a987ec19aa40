// SPDX-License-Identifier: BSD-2-Clause
// EVD: collects the events of several streams.
//
// The EVD is made of parts, one for each concern, that it owns by value and gives out. Each says in its header what it
// does and what it refuses: queue (where events wait), streams (what feeds it), CNO trigger, waiting (what an arrival
// unblocks). The EVD itself is the handle's object and the sink of its completion queue: it puts events in and takes
// them out.
#pragma once

#include <cstdint>
#include <memory>

#include "base/counter_file.h"
#include "hca/device.h"
#include "libdat/object/cno_trigger.h"
#include "libdat/object/event.h"
#include "libdat/object/event_counters.h"
#include "libdat/object/event_queue.h"
#include "libdat/object/event_stream.h"
#include "libdat/object/event_wait.h"
#include "libdat/object/feeding_streams.h"
#include "libdat/object/handle_table.h"
#include "libdat/object/object.h"
#include "libdat/object/status.h"

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

  // dat_evd_dequeue. QUEUE_EMPTY (bare for DTO and RMR EVDs); INVALID_STATE while a thread waits. If there
  // is no event it makes the device's progress and looks again.
  Status dequeue(Event& event);

  // The fast path of dequeue(): a completion reaches the caller without becoming an Event. kNothing: the answer is
  // no_completion(); kInVain: the same, and the caller yields once it has no pin. kOther: call dequeue(). REQUIRES: an
  // ExclusivePin.
  enum class Dequeued : std::uint8_t { kNothing, kInVain, kCompletion, kOther };
  Dequeued dequeue_completion(hca::Completion& out);
  // Stock providers return this bare code for EVDs with DTO or RMR streams, and a stock program compares with it.
  static constexpr Status no_completion() { return queue_empty(true); }

  // dat_evd_post_se. QUEUE_FULL: no effect and no asynchronous error. INVALID_HANDLE: the EVD takes no software events.
  Status post_software(void* pointer);

  // Adds an event of a stream other than DTO, and fills in `event.evd`. False if the ring is full: the event is lost,
  // and the IA's asynchronous EVD gets an overflow event once, unless it was a connection request.
  bool post(Event event);

  // The parts. They last as long as the EVD.
  EventQueue& queue() { return queue_; }
  const EventQueue& queue() const { return queue_; }
  FeedingStreams& streams() { return streams_; }
  const FeedingStreams& streams() const { return streams_; }
  CnoTrigger& cno_trigger() { return cno_trigger_; }
  EventWait& waiting() { return waiting_; }
  EventCounters& counters() { return counters_; }

  EventDispatcherParameters query() const;  // dat_evd_query
  // The record of the EVD that the tools of the user read (counter_publisher.h).
  base::EvdRecord counters_now();

 private:
  EventDispatcher(InterfaceAdapter& ia, std::uint32_t streams);

  // hca::CompletionSink
  void on_completion() override;
  void on_overflow() override;
  // Object
  void on_closing() override;
  void detach() override;

  Status dequeue_other(Event& event);

  EventQueue queue_;
  EventCounters counters_;
  FeedingStreams streams_;
  CnoTrigger cno_trigger_{*this, streams_};
  EventWait waiting_{queue_, streams_, cno_trigger_, counters_};
};

}  // namespace softdat::object
