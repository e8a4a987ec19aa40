// SPDX-License-Identifier: BSD-2-Clause
// SendCompletions: the send queue of a connected queue pair, and the completions of its requests, oldest first. Also
// completes requests that a poster has carried out itself (direct access).
//
// Guarded by the queue pair's lane, and the baton but for the const calls. queue()'s posting side and what is said to
// need the posting lock need that alone. Never allocates after construction.
#pragma once

#include <atomic>
#include <cstdint>

#include "hca/types.h"
#include "simnic/completion_feed.h"
#include "simnic/window_binds.h"
#include "simnic/work_queue.h"

namespace softdat::simnic {

class SendCompletions {
 public:
  // `table` outlives it. Throws std::bad_alloc.
  SendCompletions(MemoryTable& table, const CompletionFeed& feed, std::uint32_t capacity, std::uint32_t max_segments)
      : feed_(feed), queue_(capacity, max_segments), binds_(table) {}

  WorkQueue<SendEntry>& queue() { return queue_; }
  const WorkQueue<SendEntry>& queue() const { return queue_; }
  CompletionFeed& feed() { return feed_; }
  const CompletionFeed& feed() const { return feed_; }
  WindowBinds& binds() { return binds_; }

  // With the posting lock, which keeps it so until something is posted: nothing is outstanding, and
  // every completion so far stands in its queue.
  bool is_settled() const { return queue_.posted() == settled_.load(std::memory_order_acquire); }
  // With the posting lock. Back-pressure: a directly completed request never fills the send queue, so the completion
  // queue limits the poster. False: the request must be queued.
  bool has_room_for(const hca::SendRequest& request) const {
    return (request.flags & hca::kSignaled) == 0 || !feed_.is_filling_up();
  }
  // With the posting lock, while settled: a request that was carried out without being queued.
  void complete_directly(const hca::SendRequest& request, std::uint32_t length);

  // REQUIRES: a request is outstanding.
  void complete_oldest(hca::CompletionStatus status);
  // Forgets everything posted, silently.
  void discard();

 private:
  [[gnu::cold, gnu::noinline]] void complete_bind(hca::CompletionStatus status);

  // Written with the lane. A poster that reads posted() here may push completions itself.
  std::atomic<std::uint64_t> settled_{0};
  CompletionFeed feed_;
  WorkQueue<SendEntry> queue_;
  WindowBinds binds_;
};

}  // namespace softdat::simnic
