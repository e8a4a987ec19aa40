// SPDX-License-Identifier: BSD-2-Clause
// DatagramReceiveQueue: the receives that a queue pair has for datagrams. ReceiveCompletions holds and completes them.
//
// Owns the receives. A datagram that finds no receive, or one too short, is dropped without a word.
//
// Threads: post() and the counts from any thread; the rest with the baton. Errors: those of a post are results, those
// of a receive are completions.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>

#include "base/spin_lock.h"
#include "hca/datagram.h"
#include "hca/transfer_counters.h"
#include "simnic/datagram.h"
#include "simnic/lock_places.h"
#include "simnic/receive_completions.h"
#include "simnic/receive_limits.h"
#include "simnic/receive_posted.h"
#include "simnic/region_cache.h"
#include "simnic/scatter_gather.h"
#include "simnic/shared_receive_queue.h"
#include "simnic/task.h"

namespace softdat::simnic {

class DatagramReceiveQueue {
 public:
  using PostingLock = base::Ordered<base::SpinLock, locks::kPostDatagramReceive>;

  // `memory`: the queue pair's; with a shared receive queue, its own counts. `counters`: of the queue pair; this writes
  // those of receives. Throws std::bad_alloc.
  DatagramReceiveQueue(const hca::QueuePairConfig& config, const hca::QueuePairLimits& limits, const MemoryView& memory,
                       hca::TransferCounters& counters);

  // As hca::QueuePair::post_recv(). `state`: the queue pair's. Returns whether the caller must ring. As in
  // ReceivePosts, a thread that enters kError, or sets a limit, takes posting_lock() and looks at the queue afterwards.
  hca::Result<ReceivePosted> post(const hca::RecvRequest& request, const std::atomic<hca::QueuePairState>& state);
  std::uint32_t outstanding() const { return completions_.queue().outstanding(); }
  // Fills in the capacity and the high-water mark.
  void read_counts(hca::QueuePairCounts& to) const;
  // While it is held no receive is posted.
  PostingLock& posting_lock() { return mutex_; }

  // Whether another queue pair has taken the place of this one. retire() REQUIRES posting_lock(), too.
  bool is_retired() const { return is_retired_; }
  void retire() { is_retired_ = true; }

  // Begins and ceases to use the shared receive queue, if there is one. join() throws std::bad_alloc.
  void join();
  void leave(Task& queue_pair);

  // Puts the datagram and what stands before it into the oldest receive. False if a completion has been lost.
  bool deliver(const DatagramHead& head, std::span<const std::byte> prefix, std::span<const std::byte> data,
               Task& queue_pair);
  // Completes all receives as kFlushed.
  void flush() { completions_.flush(hca::CompletionStatus::kFlushed); }
  // As ReceiveCompletions.
  void discard() { completions_.discard(); }
  // Whether a completion was lost since the last call, because its queue was full.
  bool take_loss() { return completions_.feed().take_loss(); }

  // As hca::QueuePair::set_recv_limits(). Then the caller must ask takes_soft_limit() and exceeds_hard_limit().
  void set_limits(std::uint32_t soft, std::uint32_t hard) {
    const std::lock_guard lock(mutex_);
    limits_.set(soft, hard);
  }
  // True once: there are more receives than the soft limit.
  bool takes_soft_limit() { return limits_.is_set() && limits_.takes_soft(outstanding()); }
  bool exceeds_hard_limit() const { return limits_.is_set() && limits_.exceeds_hard(outstanding()); }

 private:
  bool has_receive(Task& queue_pair);

  // Fixed after construction.
  const MemoryView memory_;
  hca::TransferCounters& counters_;
  PostingLock mutex_;        // guards the posting side of the queue and the counter of posts
  RegionCache regions_;      // guarded by mutex_
  bool is_retired_ = false;  // written with the baton and mutex_, read with either
  ReceiveLimits limits_;
  // Owned by the baton, but for the posting side of its queue.
  ReceiveCompletions completions_;
};

}  // namespace softdat::simnic
