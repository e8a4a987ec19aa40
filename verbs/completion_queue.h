// SPDX-License-Identifier: BSD-2-Clause
// CompletionQueue: a completion queue of the device, and the completions that were taken from it and not polled yet.
//
// Its parts: the ibv_cq (DeviceCompletionQueue), the translation of work completions (CompletionReader), those that
// were taken and not polled (StagedCompletions), and what the consumer must be told of (NotificationState).
//
// Staged completions were taken from the device by posters that need room, and by the event thread. A poller takes
// those first, and then straight from the device. The channel is armed while a thread waits or the sink is armed.
// Otherwise it is armed, too, because a broken connection shows as a completion; but then it rests for a while after
// each event, and for longer while its consumer polls, so that polling programs are not disturbed.
//
// Ownership: the caller of create() owns it. Queue pairs and shared receive queues that use it must be gone before.
// Threads: every call from any thread. The event thread calls the sink, with no lock held.
#pragma once

#include <memory>
#include <mutex>

#include "base/lock_order.h"
#include "hca/completion_queue.h"
#include "verbs/completion_reader.h"
#include "verbs/device_completion_queue.h"
#include "verbs/event_thread.h"
#include "verbs/lock_places.h"
#include "verbs/notification_state.h"
#include "verbs/staged_completions.h"

namespace softdat::verbs {

class CompletionQueue final : public hca::CompletionQueue, private EventTarget {
 public:
  static hca::Result<std::unique_ptr<hca::CompletionQueue>> create(EventThread& events, Adapter& adapter,
                                                                   std::size_t capacity, hca::CompletionSink& sink);
  ~CompletionQueue() override;

  std::size_t poll(std::span<hca::Completion> out) override;
  std::size_t size() const override;
  std::size_t capacity() const override;
  hca::Outcome resize(std::size_t capacity) override;
  base::EventCount& event_count() override { return event_count_; }
  void arm(bool solicited_only) override;

  // --- For queue pairs and shared receive queues ---
  ibv_cq* cq() const { return device_.cq(); }
  // Takes what the device has.
  void drain();
  // A completion that the device did not make. May not be called with a queue pair's mutex that a
  // completion needs (none does).
  void push(const hca::Completion& completion, bool is_quiet);
  // Receives of a shared queue are found by the queue pair's number.
  void attach(std::uint32_t number, QueuePair& queue_pair);
  // REQUIRES: the device's queue pair is gone, so that nothing of it comes into the device's queue any more. The
  // completions of `dying` that are left there are dropped.
  void detach(std::uint32_t number, const QueuePair* dying);
  // See DeviceCompletionQueue.
  void expect_sends(std::uint32_t count);
  void release_sends(std::uint32_t count);
  // Drains if there is no room.
  bool count_unwanted();
  void discount_unwanted() { device_.discount_unwanted(); }

 private:
  CompletionQueue(EventThread& events, Adapter& adapter, std::size_t capacity, hca::CompletionSink& sink);
  void on_channel() override { hear(true); }
  void on_wake() override { hear(false); }
  void on_async_event(ibv_event_type type) override;

  void hear(bool has_fired);
  void drain_locked(const QueuePair* dying = nullptr);
  void stage_locked(const CompletionReader::Result& taken);
  void rearm_locked(bool has_fired);

  // Fixed after create().
  EventThread& events_;
  hca::CompletionSink& sink_;
  base::EventCount event_count_;
  DeviceCompletionQueue device_;

  mutable base::Mutex<locks::kCompletionQueue> mutex_;
  // Guarded by mutex_, as device_ is.
  StagedCompletions staged_;
  CompletionReader reader_;
  NotificationState notifications_;
};

}  // namespace softdat::verbs
