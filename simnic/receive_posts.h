// SPDX-License-Identifier: BSD-2-Clause
// ReceivePosts: how the consumer's receives reach the receive queue of a queue pair, and how many there may be. A queue
// pair with a shared receive queue takes none.
//
// Threads: post() on any thread, without the baton; limits() as its header says; the rest with the baton. Lock order:
// the baton, the lane, the mutex of SendPosts, mutex(). Errors: as hca::QueuePair::post_recv(). A refused receive
// changes nothing.
#pragma once

#include <cstdint>

#include "base/lock_order.h"
#include "base/spin_lock.h"
#include "hca/transfer_counters.h"
#include "simnic/direct/direct_path.h"
#include "simnic/lock_places.h"
#include "simnic/receive_limits.h"
#include "simnic/region_cache.h"
#include "simnic/shared_receive_queue.h"
#include "simnic/work_queue.h"

namespace softdat::simnic {

class ReceivePosts {
 public:
  // A spin lock, because a post of a receive copies no payload, and hardly ever enters the kernel.
  using Mutex = base::Ordered<base::SpinLock, locks::kPostReceive>;

  // `direct` is told of receives that the peer may fill itself. `counters`: this writes those of posts. All outlive it.
  ReceivePosts(const MemoryView& memory, std::uint32_t max_segments, SharedReceiveQueue* shared, DirectPath& direct,
               hca::TransferCounters& counters)
      : memory_(memory), max_segments_(max_segments), shared_(shared), direct_(direct), counters_(counters) {}

  // Null: receives are posted here.
  SharedReceiveQueue* shared() const { return shared_; }

  // While it is held no receive is posted. It guards the posting side of the queue.
  Mutex& mutex() { return mutex_; }

  // `queue` is the responder's.
  hca::Outcome post(const hca::RecvRequest& request, WorkQueue<RecvEntry>& queue);

  // Set with the baton, which then looks at the queue; asked by posters after they pushed.
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
  hca::TransferCounters& counters_;
  Mutex mutex_;
  RegionCache regions_;      // guarded by mutex_
  bool is_retired_ = false;  // written with the baton and mutex_, read with either
  ReceiveLimits limits_;
};

}  // namespace softdat::simnic
