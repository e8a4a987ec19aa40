// SPDX-License-Identifier: BSD-2-Clause
// SendPosts: how the consumer's sends, writes, reads, atomics and binds reach the send queue of a queue pair. Checks
// each request, and carries it out directly if it can (DirectPath); otherwise queues it for the requester.
//
// Threads: post() and bind() on any thread, without the baton; the rest with the baton. Lock order: the baton, the
// lane, mutex(). With mutex() held a thread may only try the baton and the lane. Errors: as hca::QueuePair::post_send()
// and post_bind(). A refused request changes nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/lock_order.h"
#include "hca/queue_pair.h"
#include "hca/transfer_counters.h"
#include "simnic/direct/direct_path.h"
#include "simnic/lock_places.h"
#include "simnic/message_path.h"
#include "simnic/region_cache.h"

namespace softdat::simnic {

class SendPosts {
 public:
  using Mutex = base::Mutex<locks::kPostSend>;

  // The outcome of a post.
  enum class Posted : std::uint8_t {
    kQueued,      // the caller rings the engine
    kQueuedLate,  // the same, after so long a time that the caller should look at what has come meanwhile
    kSent,        // as a message
    kDone,        // carried out, and completed
  };

  // `direct_context` may be null. `state` is the queue pair's. `counters`: this writes those of posts. All outlive it.
  SendPosts(direct::DirectContext* direct_context, const MemoryView& memory, const hca::QueuePairLimits& limits,
            const std::atomic<hca::QueuePairState>& state, hca::TransferCounters& counters)
      : memory_(memory),
        max_segments_(limits.send_sge),
        ord_(limits.ord),
        state_(state),
        counters_(counters),
        direct_(direct_context, memory) {}

  // A thread that holds it changes the state with no post under way.
  Mutex& mutex() { return mutex_; }
  DirectPath& direct() { return direct_; }

  // Then the caller does what the outcome says.
  hca::Result<Posted> post(const hca::SendRequest& request, MessagePath& path);
  // Then the caller rings the engine. Returns the new key; 0 for an unbind.
  hca::Result<std::uint32_t> bind(const hca::BindRequest& request, Requester& requester);

  // A connection is established: as DirectPath::begin().
  void begin_direct(std::shared_ptr<direct::Peer> peer, const transport::Offer& offer, bool may_read);
  // It ends. A post that is being carried out goes on for one piece at most.
  void end_direct();

 private:
  bool may_go_at_once(const hca::SendRequest& request, std::uint32_t length, WorkQueue<SendEntry>& queue) const;
  hca::Result<Posted> carry_out_or_queue(const hca::SendRequest& request, std::uint32_t length,
                                         const ResolvedSegment& found, Requester& requester);
  bool post_directly(const hca::SendRequest& request, std::uint32_t length, Requester& requester);
  void place_directly(const hca::SendRequest& request, SendEntry& entry, const WorkQueue<SendEntry>& queue);
  bool has_copied_for_long(std::uint64_t length);

  // Fixed after construction.
  const MemoryView memory_;
  const std::uint32_t max_segments_;
  const std::uint32_t ord_;
  const std::atomic<hca::QueuePairState>& state_;
  hca::TransferCounters& counters_;
  Mutex mutex_;               // guards the rest, and the posting side of the requester's queue
  RegionCache regions_;       // for those that read local memory
  std::uint64_t copied_ = 0;  // in sends, since the last kQueuedLate
  DirectPath direct_;         // its own header says what takes which lock
};

}  // namespace softdat::simnic
