// SPDX-License-Identifier: BSD-2-Clause
// DatagramSendQueue: the datagrams that a queue pair has posted and not sent yet.
//
// Owns the requests. A request completes when its bytes have been copied, whatever becomes of the datagram.
//
// Threads: post() and the counts from any thread; the rest with the baton. Errors: those of a post are results, those
// of a request are completions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>

#include "hca/datagram.h"
#include "hca/transfer_counters.h"
#include "simnic/completion_feed.h"
#include "simnic/datagram.h"
#include "simnic/datagram_switch.h"
#include "simnic/lock_places.h"
#include "simnic/scatter_gather.h"
#include "simnic/work_queue.h"

namespace softdat::simnic {

class DatagramSendQueue {
 public:
  using PostingLock = base::Mutex<locks::kPostDatagram>;

  // `counters`: of the queue pair; this writes those of posted and of failed requests. Throws std::bad_alloc.
  DatagramSendQueue(const hca::QueuePairConfig& config, const hca::QueuePairLimits& limits, const MemoryView& memory,
                    hca::TransferCounters& counters);

  // As hca::DatagramQueuePair::post_datagram(). Then the caller must ring.
  hca::Outcome post(const hca::DatagramRequest& request);
  std::uint32_t outstanding() const { return queue_.outstanding(); }
  // The most that one run sends.
  static constexpr std::uint32_t kMostAtOnce = 64;
  // Any thread: at least a whole run waits, or the queue is full.
  bool is_far_ahead() const { return outstanding() >= std::min(kMostAtOnce, queue_.capacity()); }
  // Fills in the capacity and the high-water mark.
  void read_counts(hca::QueuePairCounts& to) const;
  // While it is held no request is posted.
  PostingLock& posting_lock() { return mutex_; }

  bool is_empty() const { return queue_.is_empty(); }
  // Sends the oldest datagram, and completes it. `source`: the head's members that name the sender. REQUIRES: not
  // empty.
  void transmit_oldest(const DatagramHead& source, const DatagramSwitch& datagrams);
  // Completes all requests as kFlushed.
  void flush();
  // Drops all requests without completions.
  void discard();
  // Whether a completion was lost since the last call, because its queue was full.
  bool take_loss() { return feed_.take_loss(); }

 private:
  struct Entry {
    std::uint64_t wr_id;
    std::uint64_t link;
    std::uint32_t qp_number;
    std::uint32_t flags;
    std::uint32_t length;
    std::uint16_t segment_count;
  };

  hca::CompletionStatus transmit(const Entry& entry, std::uint64_t number, const DatagramHead& source,
                                 const DatagramSwitch& datagrams) const;
  void complete_oldest(hca::CompletionStatus status);

  // Fixed after construction.
  const MemoryView memory_;
  hca::TransferCounters& counters_;
  PostingLock mutex_;  // guards the posting side of queue_ and the counters of posts
  // The completing side is owned by the baton.
  WorkQueue<Entry> queue_;
  CompletionFeed feed_;
};

}  // namespace softdat::simnic
