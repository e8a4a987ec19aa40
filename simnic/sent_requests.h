// SPDX-License-Identifier: BSD-2-Clause
// SentRequests: the requests that the channel has taken, and what the peer has said of them: acks, wishes for a
// repetition, responses. Completes them in order.
//
// Requests are numbered as in their WorkQueue: [completed, current()) are under way, [current(), posted) wait. The peer
// counts messages instead, from the connection's first (docs/decisions/0002): a bind is none of them, a write with
// immediate data two, every other request one.
// Guarded by the queue pair's lane, and the baton but for on_short_send_taken() and the const calls.
#pragma once

#include <cstdint>
#include <optional>

#include "hca/transfer_counters.h"
#include "simnic/send_completions.h"

namespace softdat::simnic {

class SentRequests {
 public:
  // `counters`: of the queue pair; this writes those of failed requests and of repetitions. Throws std::bad_alloc.
  SentRequests(MemoryTable& table, const CompletionFeed& feed, std::uint32_t capacity, std::uint32_t max_segments,
               hca::TransferCounters& counters)
      : counters_(counters), completions_(table, feed, capacity, max_segments) {}

  SendCompletions& completions() { return completions_; }
  const SendCompletions& completions() const { return completions_; }

  // A connection begins. `takes_notes`: the peer acknowledges; otherwise a message counts as carried out when the
  // channel has taken it. REQUIRES: nothing is outstanding.
  void begin(bool takes_notes);

  // The request that is sent next, or that is half in the channel.
  std::uint64_t current() const { return current_; }
  // Its write has been taken, so its immediate data is next.
  bool is_write_taken() const { return is_write_taken_; }
  // How many reads and atomics under way await their responses.
  std::uint32_t reads_pending() const { return reads_pending_; }

  // The channel has taken the next message of the current request: whole, or as a ShortSend.
  void on_taken();
  void on_short_send_taken() {
    queue().at(current_).message_end = static_cast<std::uint32_t>(++messages_);
    ++current_;
  }
  // The current request is a bind, and has been carried out.
  void pass_bind() {
    queue().at(current_).message_end = static_cast<std::uint32_t>(messages_);
    ++current_;
  }

  // The peer's notes. `is_partly_taken`: the current request is half in the channel. False: the number cannot be.
  [[nodiscard]] bool on_ack(std::uint64_t count, bool is_partly_taken);
  [[nodiscard]] bool on_resend(std::uint64_t from, bool is_partly_taken);
  // Set when a rewind is to be announced to the peer before anything else is sent: its number.
  std::optional<std::uint64_t> rewound_to() const { return must_announce_ ? std::optional(messages_) : std::nullopt; }
  void on_rewind_announced() { must_announce_ = false; }

  // The oldest read or atomic that awaits its response.
  std::optional<std::uint64_t> find_oldest_read();
  // A response to that one has begun, so everything before it has been carried out...
  void on_response_begun(std::uint64_t number);
  // ...and has been placed.
  void on_answered(std::uint64_t number);

  // Completes what the peer has carried out.
  void complete_done();
  // Completes everything posted as flushed, but `culprit` (oldest if not said) with `blamed`.
  void flush(hca::CompletionStatus blamed, std::optional<std::uint64_t> culprit = std::nullopt);

 private:
  WorkQueue<SendEntry>& queue() { return completions_.queue(); }
  bool is_done(std::uint64_t number) const;
  // Messages taken by the channel when this request was. REQUIRES: it was, and is outstanding.
  std::uint64_t messages_until(const SendEntry& entry) const {
    return messages_ - (static_cast<std::uint32_t>(messages_) - entry.message_end);
  }
  void note_carried_out(std::uint64_t messages);
  void rewind();

  hca::TransferCounters& counters_;
  SendCompletions completions_;
  bool takes_notes_ = false;
  bool is_write_taken_ = false;
  bool must_announce_ = false;
  std::uint32_t reads_pending_ = 0;
  std::uint64_t current_ = 0;               // the channel has taken the requests before it
  std::uint64_t messages_ = 0;              // taken by the channel on this connection
  std::uint64_t carried_out_ = 0;           // of these, by the peer
  std::uint64_t answered_ = 0;              // no read before this one awaits its response
  std::optional<std::uint64_t> rewind_to_;  // once the request under way has been taken
};

}  // namespace softdat::simnic
