// SPDX-License-Identifier: BSD-2-Clause
// EventQueue: the events that wait in an EVD. Completions wait in a completion queue of the device, all others in a
// ring of the same length. Completions that were there before another event are taken before it.
//
// Owned by the EVD. Any thread, after set_up(). INVARIANT: each of the two queues that the EVD has holds length()
// events. An event that is put here wakes nobody: the caller tells EventWait.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/event_count.h"
#include "base/spin_lock.h"
#include "hca/device.h"
#include "libdat/object/event.h"
#include "libdat/object/event_ring.h"
#include "libdat/object/lock_places.h"
#include "libdat/object/object.h"
#include "libdat/object/status.h"

namespace softdat::object {

// INVALID_PARAMETER (argument 2) if the device has no completion queues of this length.
Status check_queue_length(std::int32_t length, const hca::DeviceAttributes& attributes);

class EventQueue {
 public:
  // `evd` is the one that events name. It outlives this object, and has its handle before set_up().
  EventQueue(const Object& evd, std::shared_ptr<hca::Device> device);

  // Makes room for `length` events of these streams. Called once. Completions are told to `sink` until end().
  // INSUFFICIENT_RESOURCES; INVALID_PARAMETER if the device refuses the length.
  Status set_up(std::uint32_t streams, std::int32_t length, hca::CompletionSink& sink);
  // Destroys the completion queue. When it returns, no call of the sink is under way. Call it before anything that the
  // sink uses is destroyed.
  void end();
  // Drops all events but completions. Requests to connect are refused: nobody will see them.
  void discard();

  hca::Device& device() const { return *device_; }
  // Null without DTO and RMR streams.
  hca::CompletionQueue* completion_queue() const { return cq_.get(); }
  // Notified for every completion that is not quiet. The owner of the EVD's other events notifies it, too.
  base::EventCount& event_count() const { return *wake_; }
  std::int32_t length() const { return length_.load(std::memory_order_relaxed); }
  // How many events wait, at one moment of each of the two queues.
  std::int32_t size() const;
  bool holds_only_completions() const { return ring_.is_empty(); }
  // Completions that the device has lost, and the most events that have waited at once.
  std::uint64_t lost() const { return cq_ == nullptr ? 0 : cq_->lost(); }
  std::size_t high_water() const;

  // Adds an event other than a completion, and names the EVD in it. Returns its number; empty if the ring is full.
  [[nodiscard]] std::optional<std::uint64_t> put(Event event);
  // Whether the event with that number still waits.
  bool holds(std::uint64_t number) const { return ring_.holds(number); }
  // Takes the oldest event. False if there is none. Makes no progress of the device. REQUIRES: taking_lock().
  [[nodiscard]] bool take(Event& event);
  // The EVD's lock of exclusive calls, which an ExclusivePin holds.
  base::Ordered<base::SpinLock, locks::kExclusiveCall>& taking_lock() const;

  // Has the sink called for the next completion that wakes (hca::CompletionQueue::arm()).
  void arm(bool solicited_only);

  // An event was lost for want of room. True the first time since the last resize().
  [[nodiscard]] bool note_overflow() { return !has_overflowed_.exchange(true); }
  bool has_overflowed() const { return has_overflowed_.load(std::memory_order_relaxed); }

  // dat_evd_resize. INVALID_STATE, without any effect, if more events wait than are asked for, or are awaited.
  Status resize(std::int32_t length);
  // A thread begins to wait for `count` events: resize() leaves room for them until end_awaiting(). False, without any
  // effect, if the queue is shorter. One thread at a time.
  [[nodiscard]] bool begin_awaiting(std::int32_t count);
  void end_awaiting();

 private:
  bool take_completion(Event& event);
  bool take_in_order(Event& event);
  // Under resize_mutex_.
  Status resize_locked(std::int32_t length);
  hca::Outcome resize_completions(std::size_t room);

  const Object& evd_;
  const std::shared_ptr<hca::Device> device_;

  // Fixed between set_up() and end().
  std::unique_ptr<hca::CompletionQueue> cq_;
  bool has_ring_ = false;
  base::EventCount own_wake_;
  base::EventCount* wake_ = &own_wake_;  // the completion queue's, if there is one

  EventRing ring_;  // has its own lock

  std::atomic<std::int32_t> length_{0};  // written by set_up() and under resize_mutex_
  std::atomic<bool> has_overflowed_{false};

  // Held by resize(), and by a thread that begins to wait for several events. Taken before all other locks.
  base::Mutex<locks::kResize> resize_mutex_;
  std::int32_t awaited_ = 0;  // guarded by resize_mutex_; at most length_
};

}  // namespace softdat::object
