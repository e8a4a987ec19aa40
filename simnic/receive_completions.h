// SPDX-License-Identifier: BSD-2-Clause
// ReceiveCompletions: the receive queue of a queue pair, connected or for datagrams, and the completions of its
// receives, oldest first. With a shared receive queue, it holds the one receive that was taken from there.
//
// Guarded by the queue pair's lane, and the baton but for the const calls; queue()'s posting side by the posting lock.
// Never allocates after construction.
#pragma once

#include <cstdint>

#include "hca/transfer_counters.h"
#include "hca/types.h"
#include "simnic/completion_feed.h"
#include "simnic/shared_receive_queue.h"
#include "simnic/work_queue.h"

namespace softdat::simnic {

class ReceiveCompletions {
 public:
  // `shared`: null if receives are posted to queue(). `flushed_as`: the opcode of flushed receives. `counters`: of the
  // queue pair; this writes those of receives. Throws std::bad_alloc.
  ReceiveCompletions(const CompletionFeed& feed, const hca::QueuePairLimits& limits, SharedReceiveQueue* shared,
                     hca::CompletionOpcode flushed_as, hca::TransferCounters& counters)
      : shared_(shared),
        flushed_as_(flushed_as),
        counters_(counters),
        feed_(feed),
        queue_(limits.recv_wr, limits.recv_sge) {}

  WorkQueue<RecvEntry>& queue() { return queue_; }
  const WorkQueue<RecvEntry>& queue() const { return queue_; }
  CompletionFeed& feed() { return feed_; }
  SharedReceiveQueue* shared() const { return shared_; }

  // `extra`: the key that is void, or immediate data. REQUIRES: a receive. If the completion queue is full, feed()
  // notes that the completion is lost.
  void complete_oldest(hca::CompletionStatus status, std::uint32_t length, bool is_solicited,
                       hca::CompletionOpcode opcode, std::uint32_t extra = 0);
  // Completes all receives: the oldest with `blamed`, the others as flushed.
  void flush(hca::CompletionStatus blamed);
  // Drops all receives without completions, but flushes one that was taken from a shared queue: it is charged to that
  // queue's account until its completion is polled.
  void discard();

 private:
  // Fixed after construction.
  SharedReceiveQueue* const shared_;
  const hca::CompletionOpcode flushed_as_;
  hca::TransferCounters& counters_;
  CompletionFeed feed_;
  WorkQueue<RecvEntry> queue_;
};

}  // namespace softdat::simnic
