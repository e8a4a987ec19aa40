// SPDX-License-Identifier: BSD-2-Clause
// WorkQueue: the requests of one direction of a queue pair (WorkRing), from the post to the completion queue that
// reports them: what the send queue and the receive queue have in common.
//
// Every request is signaled to us, wanted or not. So the ring is exact, and the device's queue never fills up with
// requests that it does not report.
//
// Threads: complete() REQUIRES the completion queue's lock or, for requests that the device does not have, the mutex of
// the posters. drain() and outstanding() run on any thread. All other calls REQUIRE the mutex of the posters.
#pragma once

#include "hca/transfer_counters.h"
#include "verbs/completion_queue.h"
#include "verbs/device_queue_pair.h"
#include "verbs/work_ring.h"

namespace softdat::verbs {

// What both queues of a queue pair share. All of it belongs to the queue pair, but for the device.
struct WorkQueueParts {
  const DeviceView& device;
  const hca::QueuePairConfig& config;
  QueuePair& owner;
  const std::atomic<hca::QueuePairState>& state;
  const DeviceQueuePair& device_pair;
  hca::TransferCounters& counters;
};

class WorkQueue {
 public:
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  WorkRing& ring() { return ring_; }

  void drain() const { completions_.drain(); }
  std::uint32_t outstanding() const {
    drain();
    return ring_.outstanding();
  }

  // Carries out what waits for it (a bind), and frees the entry and those before it.
  void complete(WorkEntry& entry, hca::CompletionStatus status) {
    if (entry.window != nullptr) [[unlikely]] {
      entry.window->on_done(entry.binding, status == hca::CompletionStatus::kSuccess);
      entry.window.reset();
    }
    if (entry.is_counted) [[unlikely]]
      discount(entry);
    ring_.complete(entry);
  }

  // Whether the device has none of the requests, after a drain.
  bool is_device_done();
  // Completes all requests as flushed, and from now on each one that follows. The device must have none, or have been
  // rid of its queue pair.
  void flush();
  // For the next connection: what follows is not flushed.
  void renew() { is_flushed_ = false; }

 protected:
  // Throws std::bad_alloc.
  WorkQueue(const WorkQueueParts& parts, bool is_receive);
  // The requests that are left complete no more.
  ~WorkQueue();

  hca::QueuePairState state() const { return state_.load(std::memory_order_seq_cst); }
  // Drains if the ring is full.
  void make_room() {
    if (ring_.is_full()) [[unlikely]]
      drain();
  }

  // Reserves room in the completion queue if no completion is wanted. False: there is none now.
  bool count(WorkEntry& entry) {
    entry.is_counted = (entry.flags & hca::kSignaled) == 0 && completions_.count_unwanted();
    return entry.is_counted || (entry.flags & hca::kSignaled) != 0;
  }
  // The device has not taken the request that was committed last.
  void retract(WorkEntry& entry) {
    ring_.retract();
    if (entry.is_counted) discount(entry);
  }
  // For a request that the device shall not have: it waits for the flush, or is flushed at once after that.
  void commit_unposted(WorkEntry& entry);

  const DeviceView device_;
  const hca::QueuePairLimits limits_;
  const std::atomic<hca::QueuePairState>& state_;
  const DeviceQueuePair& device_pair_;
  ProtectionDomain& domain_;
  const std::uint32_t domain_id_;
  hca::TransferCounters& counters_;
  CompletionQueue& completions_;
  // Guarded by the mutex of the posters.
  WorkRing ring_;
  LastGrant last_grant_;

 private:
  void discount(WorkEntry& entry) {
    entry.is_counted = false;
    completions_.discount_unwanted();
  }

  const std::uint64_t context_;
  bool is_flushed_ = false;
};

}  // namespace softdat::verbs
