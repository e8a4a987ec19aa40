// SPDX-License-Identifier: BSD-2-Clause
// Requester: the half of a queue pair that asks. Decides which request the channel is given next, and gives it the
// payload. Its parts: the requests that were sent (SentRequests), and in it the send queue (SendCompletions).
//
// REQUIRES of every call: the queue pair's lane. The parts say what they require.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "hca/transfer_counters.h"
#include "simnic/completion_feed.h"
#include "simnic/fault.h"
#include "simnic/scatter_gather.h"
#include "simnic/sent_requests.h"
#include "transport/channel.h"

namespace softdat::simnic {

// The wire opcode of a send. `flags`: the consumer's, or those of a SendEntry.
inline transport::Opcode send_opcode(std::uint32_t flags) {
  const bool is_solicited = (flags & hca::kSolicited) != 0;
  using enum transport::Opcode;
  if ((flags & kPlaced) != 0) return is_solicited ? kSendPlacedSolicited : kSendPlaced;
  return is_solicited ? kSendSolicited : kSend;
}

class Requester final : public transport::PayloadSource {
 public:
  // Throws std::bad_alloc.
  Requester(const MemoryView& memory, const CompletionFeed& feed, std::uint32_t capacity, std::uint32_t max_segments,
            hca::TransferCounters& counters)
      : memory_(memory), sent_(memory.table, feed, capacity, max_segments, counters) {}

  WorkQueue<SendEntry>& queue() { return completions().queue(); }
  const WorkQueue<SendEntry>& queue() const { return sent_.completions().queue(); }
  SendCompletions& completions() { return sent_.completions(); }
  SentRequests& sent() { return sent_; }

  // A connection begins. Requires that nothing is outstanding. `ord`: how many reads the peer answers at once.
  void begin(transport::Features features, std::uint32_t ord);

  // The next request as a message. False: none waits, or it has to (fence, reads outstanding, a rewind
  // to be announced, an earlier failure). The same until sent().on_taken().
  [[nodiscard]] bool next(transport::Message& message);
  // Requests go out as they are posted, and the peer acknowledges them.
  bool is_plain() const {
    return !is_stalled() && !sent_.rewound_to() && limit_ == kNoLimit && (features_ & transport::kNotes) != 0;
  }
  // The next request as a ShortSend, except for `acked`. False: there is none, or it needs next(). REQUIRES:
  // is_plain().
  [[nodiscard]] bool next_short_send(transport::ShortSend& short_send) const;
  // Whether a request that is posted now may go at once, if its only segment lies there. REQUIRES: is_plain().
  bool may_go_now(const ResolvedSegment& found) const { return !has_more() && still_holds(memory_, found); }
  // Whether the local memory of the request under way is still ours to touch.
  bool is_payload_valid() const;
  // The memory of the request under way faults, and the channel took nothing of it: it fails once everything before it
  // has completed.
  void stall() { stalled_ = hca::CompletionStatus::kLocalProtection; }
  bool gather(std::uint64_t offset, std::size_t length, transport::SliceList& out) override;
  // The peer answers reads at all.
  bool may_read() const { return ord_ > 0; }

  // Whether find_fault() may find one.
  bool is_stalled() const { return stalled_ != hca::CompletionStatus::kSuccess; }
  // Once everything before a request that cannot be carried out has completed: its fault.
  std::optional<Fault> find_fault() const;
  // Whether there is something to look at when the peer has told news.
  bool is_waiting() const { return has_more() || limit_ != kNoLimit || sent_.rewound_to(); }
  // The same while is_plain().
  bool has_more() const { return queue().posted() > sent_.current() || sent_.completions().feed().has_lost(); }

  // The peer wants the messages from this one on again, as SentRequests::on_resend().
  [[nodiscard]] bool on_resend(std::uint64_t from, bool is_partly_taken);

  // Only requests posted so far are sent from now on.
  void stop_at_posted() { limit_ = queue().posted(); }
  // All that may be sent has completed.
  bool is_drained() const { return queue().completed() >= limit_; }
  // The oldest request awaits a response.
  bool is_oldest_read() const;

 private:
  static constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

  bool may_follow(const SendEntry& entry);
  bool carry_out_binds(std::uint64_t end);

  // Fixed after construction.
  const MemoryView memory_;
  // Guarded by the queue pair's lane.
  SentRequests sent_;
  transport::Features features_ = 0;
  std::uint32_t ord_ = 0;
  std::uint64_t limit_ = kNoLimit;
  hca::CompletionStatus stalled_ = hca::CompletionStatus::kSuccess;  // else: why the current request cannot be sent
};

}  // namespace softdat::simnic
