// SPDX-License-Identifier: BSD-2-Clause
// ReceivePosts: how the consumer's receives reach the receive queue of a queue pair, and how many there may be. A queue
// pair with a shared receive queue takes none.
//
// post() pushes the receive and then checks whether the engine must be rung, both under mutex(). A thread with the
// baton that sets is_starved_, a limit or kError does so under mutex(), or locks mutex() once afterwards, and then
// looks at the queue. So it sees each receive that was posted before, and each later post() answers true.
//
// Threads: post() on any thread, without the baton; limits() as its header says; the rest with the baton. Lock order:
// the baton, the lane, the mutex of SendPosts, mutex(). Errors: as hca::QueuePair::post_recv(). A refused receive
// changes nothing.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/lock_order.h"
#include "base/spin_lock.h"
#include "hca/transfer_counters.h"
#include "simnic/direct/direct_path.h"
#include "simnic/lock_places.h"
#include "simnic/receive_limits.h"
#include "simnic/receive_posted.h"
#include "simnic/region_cache.h"
#include "simnic/shared_receive_queue.h"
#include "simnic/work_queue.h"

namespace softdat::simnic {

class ReceivePosts {
 public:
  // A spin lock, because a post of a receive copies no payload, and hardly ever enters the kernel.
  using Mutex = base::Ordered<base::SpinLock, locks::kPostReceive>;

  // `direct` is told of receives that the peer may fill itself. `state` is the queue pair's. `counters`: this writes
  // those of posts. All outlive it.
  ReceivePosts(const MemoryView& memory, std::uint32_t max_segments, SharedReceiveQueue* shared, DirectPath& direct,
               const std::atomic<hca::QueuePairState>& state, hca::TransferCounters& counters)
      : memory_(memory),
        max_segments_(max_segments),
        shared_(shared),
        direct_(direct),
        state_(state),
        counters_(counters) {}

  // Null: receives are posted here.
  SharedReceiveQueue* shared() const { return shared_; }

  // While it is held no receive is posted. It guards the posting side of the queue.
  Mutex& mutex() { return mutex_; }

  // `queue` is the responder's. Returns whether the caller must ring the engine.
  hca::Result<ReceivePosted> post(const hca::RecvRequest& request, WorkQueue<RecvEntry>& queue);

  // Looks again, after a message has found no receive in `queue`. True: there still is none, and posts ring until
  // sate().
  bool starve(const WorkQueue<RecvEntry>& queue);
  void sate();

  // set() REQUIRES mutex(), too; then the caller looks at the queue.
  ReceiveLimits& limits() { return limits_; }
  const ReceiveLimits& limits() const { return limits_; }

  // Whether another queue pair has taken the place of this one. retire() REQUIRES mutex(), too.
  bool is_retired() const { return is_retired_; }
  void retire() { is_retired_ = true; }

 private:
  // Fixed after construction.
  const MemoryView memory_;
  const std::uint32_t max_segments_;
  SharedReceiveQueue* const shared_;
  DirectPath& direct_;
  const std::atomic<hca::QueuePairState>& state_;
  hca::TransferCounters& counters_;
  Mutex mutex_;
  RegionCache regions_;  // guarded by mutex_
  // Written with the baton and mutex_, read with either.
  bool is_retired_ = false;
  bool is_starved_ = false;  // a message waits for a receive
  ReceiveLimits limits_;
};

}  // namespace softdat::simnic
