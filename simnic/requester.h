// SPDX-License-Identifier: BSD-2-Clause
// Requester: the half of a queue pair that asks. Sends what was posted, in order; knows what the
// peer has carried out; places read responses; completes in order.
//
// Requests are numbered as in their WorkQueue: [completed, sent_) are under way, [sent_, posted) wait.
// The peer counts messages instead, from the connection's first (docs/decisions/0002): a bind is none
// of them, a write with immediate data two, every other request one. A bind is carried out here, when
// everything before it was sent.
// REQUIRES of every call: the queue pair's lane; but only the posting lock for queue()'s posting side and for what says
// so.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>

#include "hca/transfer_counters.h"
#include "simnic/completion_feed.h"
#include "simnic/fault.h"
#include "simnic/scatter_gather.h"
#include "simnic/work_queue.h"
#include "transport/channel.h"

namespace softdat::simnic {

class Requester final : public transport::PayloadSource {
 public:
  Requester(const MemoryView& memory, const CompletionFeed& feed, std::uint32_t capacity, std::uint32_t max_segments,
            hca::TransferCounters& counters)
      : memory_(memory), counters_(counters), feed_(feed), queue_(capacity, max_segments) {}

  WorkQueue<SendEntry>& queue() { return queue_; }
  const WorkQueue<SendEntry>& queue() const { return queue_; }
  // Whether a completion found its queue full since the last call.
  bool take_loss() { return feed_.take_loss(); }

  // A connection begins. Requires that nothing is outstanding.
  void begin(transport::Features features, std::uint32_t ord);

  // The next request as a message. False: none waits, or it has to (fence, reads outstanding, a rewind
  // to be announced, an earlier failure). The same until on_taken().
  [[nodiscard]] bool next(transport::Message& message);
  // Requests go out as they are posted, and the peer acknowledges them.
  bool is_plain() const {
    return !is_stalled() && !must_announce_ && limit_ == kNoLimit && (features_ & transport::kNotes) != 0;
  }
  // The next request as a ShortSend, except for `acked`. False: there is none, or it needs next(). REQUIRES:
  // is_plain().
  [[nodiscard]] bool next_short_send(transport::ShortSend& short_send) const;
  void on_brief_taken() {
    queue_.at(sent_).message_end = ++messages_;
    ++sent_;
  }
  // Whether the local memory of the request under way is still ours to touch.
  bool is_payload_valid() const;
  // The channel took the request whole.
  void on_taken();
  // The memory of the request under way faults, and the channel took nothing of it: it fails once everything before it
  // has completed.
  void stall() { stalled_ = hca::CompletionStatus::kLocalProtection; }
  bool gather(std::uint64_t offset, std::size_t length, transport::SliceList& out) override;

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
  bool has_lost() const { return feed_.has_lost(); }
  // The peer answers reads at all.
  bool may_read() const { return ord_ > 0; }

  // Whether find_fault() may find one.
  bool is_stalled() const { return stalled_ != hca::CompletionStatus::kSuccess; }
  // Whether there is something to look at when the peer has told news.
  bool is_waiting() const { return has_more() || limit_ != kNoLimit || must_announce_; }
  // The same while is_plain().
  bool has_more() const { return queue_.posted() > sent_ || feed_.has_lost(); }

  // Only requests posted so far are sent from now on.
  void stop_at_posted() { limit_ = queue_.posted(); }
  // All that may be sent has completed.
  bool is_drained() const { return queue_.completed() >= limit_; }

  // The peer's notes. `is_partly_taken`: the request that next() gave is half in the channel. False:
  // the number cannot be.
  [[nodiscard]] bool on_ack(std::uint64_t count, bool is_partly_taken);
  [[nodiscard]] bool on_resend(std::uint64_t from, bool is_partly_taken);
  // Set when a rewind is to be announced to the peer before anything else is sent: its number.
  std::optional<std::uint64_t> rewound_to() const { return must_announce_ ? std::optional(messages_) : std::nullopt; }
  void on_rewind_announced() { must_announce_ = false; }

  // Responses to our reads and atomics.
  Verdict place(const transport::Arrival& arrival, transport::SliceList& out);
  std::optional<Fault> on_response(const transport::Message& message);

  // Once everything before a request that cannot be carried out has completed: its fault.
  std::optional<Fault> find_fault() const;

  // Completes everything posted as flushed, but `culprit` (oldest if not said) with `blamed`.
  void flush(hca::CompletionStatus blamed, std::optional<std::uint64_t> culprit = std::nullopt);
  // Forgets everything posted, silently.
  void discard();
  // Of the request under way, for flush().
  std::uint64_t current() const { return sent_; }
  // The oldest request awaits a response.
  bool is_oldest_read() const;

 private:
  static constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

  bool may_follow(const SendEntry& entry);
  bool can_peer_do(hca::SendOpcode opcode) const;
  void write_message(const SendEntry& entry, transport::Message& message) const;
  transport::Message to_atomic(const SendEntry& entry) const;
  std::optional<std::uint64_t> find_oldest_read();
  bool carry_out_binds(std::uint64_t end);
  bool carry_out(const SendEntry& bind);
  void end_bind(const SendEntry& bind, std::uint64_t number, bool is_success);
  std::optional<Fault> take_original(std::uint64_t number, std::uint64_t original);
  bool is_done(std::uint64_t number) const;
  void note_carried_out(std::uint64_t messages);
  void rewind();
  void complete_done();
  void complete_oldest(hca::CompletionStatus status);
  [[gnu::cold, gnu::noinline]] void complete_bind(hca::CompletionStatus status);

  // Fixed after construction.
  const MemoryView memory_;
  hca::TransferCounters& counters_;
  // Written with the lane. A poster that reads posted() here may push completions itself.
  std::atomic<std::uint64_t> settled_{0};
  // Guarded by the queue pair's lane.
  CompletionFeed feed_;
  WorkQueue<SendEntry> queue_;
  transport::Features features_ = 0;
  std::uint32_t ord_ = 0;
  std::uint32_t reads_pending_ = 0;
  std::uint64_t sent_ = 0;         // taken by the channel up to here
  std::uint64_t bound_ = 0;        // binds before this request have been carried out
  bool is_write_taken_ = false;    // of request sent_, its immediate data is next
  std::uint64_t messages_ = 0;     // taken by the channel on this connection
  std::uint64_t carried_out_ = 0;  // of these, by the peer
  std::uint64_t answered_ = 0;     // no read before this one waits for its response
  std::uint64_t limit_ = kNoLimit;
  std::optional<std::uint64_t> rewind_to_;  // once the request under way has been taken
  bool must_announce_ = false;
  hca::CompletionStatus stalled_ = hca::CompletionStatus::kSuccess;  // else: why sent_ cannot be sent
};

}  // namespace softdat::simnic
