// SPDX-License-Identifier: BSD-2-Clause
// ReceiveQueue: the receives of a connected queue pair, as its responder needs them. Says where the bytes of a message
// go, and remembers that a message has found no receive. ReceiveCompletions holds and completes them.
//
// Guarded by the queue pair's lane, and the baton but for the const calls; queue()'s posting side by the posting lock.
// Never allocates after construction.
#pragma once

#include <cstdint>

#include "hca/transfer_counters.h"
#include "simnic/completion_feed.h"
#include "simnic/fault.h"
#include "simnic/receive_completions.h"
#include "simnic/receive_posts.h"
#include "simnic/responder_failure.h"
#include "simnic/scatter_gather.h"
#include "simnic/shared_receive_queue.h"
#include "simnic/work_queue.h"
#include "transport/channel.h"

namespace softdat::simnic {

// Where receives come from: `posts` puts them into queue(), or names the shared queue that has them. Of a shared queue
// one is taken when a message arrives; `starving` is run when there is one again.
struct ReceiveSource {
  ReceivePosts& posts;
  Task& starving;
};

class ReceiveQueue {
 public:
  // `counters`: of the queue pair; this writes those of receives. Throws std::bad_alloc.
  ReceiveQueue(const MemoryView& memory, const CompletionFeed& feed, const hca::QueuePairLimits& limits,
               const ReceiveSource& source, hca::TransferCounters& counters)
      : memory_(source.posts.shared() == nullptr ? memory : source.posts.shared()->memory()),
        source_(source),
        completions_(feed, limits, source.posts.shared(), hca::CompletionOpcode::kRecv, counters) {}

  WorkQueue<RecvEntry>& queue() { return completions_.queue(); }
  const WorkQueue<RecvEntry>& queue() const { return completions_.queue(); }
  CompletionFeed& feed() { return completions_.feed(); }

  // Whether there is a receive for the next message. If not, the queue pair is run when there is one, until sate().
  bool has_receive();
  // Whether has_receive() would be true.
  bool has_prospect() const {
    return !queue().is_empty() || (completions_.shared() != nullptr && !completions_.shared()->is_empty());
  }
  void sate();

  // The oldest receive. Its length is 0 if there is none.
  std::uint64_t oldest_length() const { return queue().is_empty() ? 0 : queue().at(queue().completed()).length; }
  // Where a part of a send goes. A refusal is noted in `failure`. REQUIRES: has_receive().
  Verdict place(const transport::Arrival& arrival, transport::SliceList& out, ResponderFailure& failure) const;
  // Whether the send fits, and goes where the poster found the memory. False with a shared receive queue, unless a
  // receive has been taken from it already: such sends go by place() and on_message().
  bool may_take(const transport::ShortSend& short_send) const {
    if (queue().is_empty()) return false;
    const RecvEntry& entry = queue().at(queue().completed());
    return short_send.payload.size() <= entry.length && still_holds(memory_, entry.found);
  }
  // Notes that its memory is not there to be written.
  [[gnu::cold, gnu::noinline]] void note_memory(ResponderFailure& failure) const;
  // Notes that a message of `length` bytes has found no receive.
  [[gnu::cold, gnu::noinline]] void note_lack(std::uint64_t length, ResponderFailure& failure) const;

  // These three as ReceiveCompletions.
  void complete_oldest(hca::CompletionStatus status, std::uint32_t length, bool is_solicited,
                       hca::CompletionOpcode opcode = hca::CompletionOpcode::kRecv, std::uint32_t extra = 0) {
    completions_.complete_oldest(status, length, is_solicited, opcode, extra);
  }
  void flush(hca::CompletionStatus blamed) { completions_.flush(blamed); }
  void discard() { completions_.discard(); }

 private:
  // Notes that the oldest receive has failed. Returns what to fill in, or null: there is no receive, or as
  // ResponderFailure::note().
  [[gnu::cold, gnu::noinline]] hca::Failure* note_oldest(hca::Rule rule, hca::CompletionStatus status,
                                                         ResponderFailure& failure) const;
  [[gnu::cold, gnu::noinline]] void note_length(std::uint64_t length, ResponderFailure& failure) const;

  // Fixed after construction.
  const MemoryView memory_;
  const ReceiveSource source_;
  ReceiveCompletions completions_;
};

}  // namespace softdat::simnic
