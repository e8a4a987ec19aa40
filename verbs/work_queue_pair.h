// SPDX-License-Identifier: BSD-2-Clause
// WorkQueuePair: what carries the work of a queue pair: its send queue, its receive queue, and the ibv_qp that both
// post to. It knows no connection, but for the state that decides what may be posted.
//
// Threads: sends() and recvs() on any thread; the rest REQUIRES the connection's mutex.
#pragma once

#include <mutex>

#include "verbs/receive_queue.h"
#include "verbs/send_queue.h"

namespace softdat::verbs {

class WorkQueuePair {
 public:
  // `state` is the queue pair's. Without an ibv_qp, until device_pair().make(). Throws std::bad_alloc.
  WorkQueuePair(const DeviceView& device, const hca::QueuePairConfig& config, QueuePair& owner,
                const std::atomic<hca::QueuePairState>& state)
      : device_pair_(device, config, owner),
        sends_({device, config, owner, state, device_pair_, counters_}),
        recvs_({device, config, owner, state, device_pair_, counters_}) {}

  DeviceQueuePair& device_pair() { return device_pair_; }
  SendQueue& sends() { return sends_; }
  const SendQueue& sends() const { return sends_; }
  ReceiveQueue& recvs() { return recvs_; }
  const ReceiveQueue& recvs() const { return recvs_; }
  WorkQueue& queue_of(const WorkEntry& entry) { return entry.is_receive ? static_cast<WorkQueue&>(recvs_) : sends_; }
  // Posts are counted under the mutex of their queue, receives under the lock of their completion queue.
  hca::TransferCounters& counters() { return counters_; }
  const hca::TransferCounters& counters() const { return counters_; }

  // Keeps all posters out. What they post happens before, or sees what the holder has changed.
  [[nodiscard]] auto lock() { return std::scoped_lock(sends_.mutex(), recvs_.mutex()); }

  // Whether the device has none of the requests any more, after a drain.
  bool is_device_done();
  // In kError: completes all requests, as flushed unless the device has carried them out, and flushes what is posted
  // later at once. Destroys the ibv_qp if it still has requests: what it has not flushed cannot come back then.
  void flush();
  // A new ibv_qp for the next connection. REQUIRES lock(). If it fails there is none, and it may be repeated.
  hca::Outcome renew_locked(EventTarget& target);

 private:
  hca::TransferCounters counters_;
  DeviceQueuePair device_pair_;
  SendQueue sends_;
  ReceiveQueue recvs_;
};

}  // namespace softdat::verbs
