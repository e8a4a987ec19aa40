// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/sent_requests.h"

#include <algorithm>
#include <utility>

#include "hca/request_rules.h"

namespace softdat::simnic {

using hca::CompletionStatus;
using hca::SendOpcode;

// The queue is empty but numbers go on; messages are counted from 0 on each connection.
void SentRequests::begin(bool takes_notes) {
  takes_notes_ = takes_notes;
  reads_pending_ = 0;
  current_ = answered_ = queue().completed();
  messages_ = carried_out_ = 0;
  is_write_taken_ = must_announce_ = false;
  rewind_to_.reset();
  completions_.binds().begin(current_);
}

void SentRequests::on_taken() {
  SendEntry& entry = queue().at(current_);
  ++messages_;
  is_write_taken_ = entry.opcode == SendOpcode::kWriteWithImmediate && !is_write_taken_;
  if (!is_write_taken_) {
    if (hca::awaits_response(entry.opcode)) ++reads_pending_;
    entry.message_end = static_cast<std::uint32_t>(messages_);
    ++current_;
  }
  // The peer asked for a repetition while this message was half in the channel.
  if (rewind_to_) rewind();
  if (takes_notes_) return;
  // A foreign peer acknowledges nothing: a message counts as carried out once the socket has it.
  carried_out_ = messages_;
  complete_done();
}

bool SentRequests::on_ack(std::uint64_t count, bool is_partly_taken) {
  // A message may be carried out before the channel has told us that it was taken whole.
  if (count > messages_ + (is_partly_taken ? 1 : 0)) return false;
  note_carried_out(std::min(count, messages_));
  complete_done();
  return true;
}

bool SentRequests::on_resend(std::uint64_t from, bool is_partly_taken) {
  // The peer may only ask for what was sent and not yet carried out.
  if (from < carried_out_ || from > messages_ || (from == messages_ && !is_partly_taken)) return false;
  // One repetition at a time: the peer must see its beginning (note 3) before it asks again.
  if (must_announce_ || rewind_to_) return false;
  note_carried_out(from);
  counters_.add_resend();
  rewind_to_ = from;
  if (!is_partly_taken) rewind();
  complete_done();
  return true;
}

// The peer has dropped every message from there on, reads included; of a write with immediate data perhaps only the
// latter.
void SentRequests::rewind() {
  const std::uint64_t first = *std::exchange(rewind_to_, std::nullopt);
  is_write_taken_ = is_write_taken_ && first == messages_;
  while (current_ > queue().completed() && messages_until(queue().at(current_ - 1)) > first) {
    const SendEntry& entry = queue().at(--current_);
    if (hca::awaits_response(entry.opcode)) --reads_pending_;
    is_write_taken_ = entry.opcode == SendOpcode::kWriteWithImmediate && messages_until(entry) == first + 1;
  }
  messages_ = first;
  answered_ = std::min(answered_, current_);
  must_announce_ = true;
}

std::optional<std::uint64_t> SentRequests::find_oldest_read() {
  // Slots of completed requests may hold later ones by now.
  for (answered_ = std::max(answered_, queue().completed()); answered_ < current_; ++answered_) {
    if (hca::awaits_response(queue().at(answered_).opcode)) return answered_;
  }
  return std::nullopt;
}

// Requests before it are complete, so a failure from now on concerns this one.
void SentRequests::on_response_begun(std::uint64_t number) {
  note_carried_out(messages_until(queue().at(number)));
  complete_done();
}

void SentRequests::on_answered(std::uint64_t number) {
  answered_ = number + 1;
  --reads_pending_;
  complete_done();
}

void SentRequests::note_carried_out(std::uint64_t messages) {
  carried_out_ = std::max(carried_out_, messages);
}

bool SentRequests::is_done(std::uint64_t number) const {
  const SendEntry& entry = completions_.queue().at(number);
  // A read is done when its data has been placed, which is later than its ack.
  return hca::awaits_response(entry.opcode) ? number < answered_ : messages_until(entry) <= carried_out_;
}

void SentRequests::complete_done() {
  while (queue().completed() < current_ && is_done(queue().completed())) {
    completions_.complete_oldest(CompletionStatus::kSuccess);
  }
}

// DAT and InfiniBand: the request to blame has its own status, all others are flushed, in the order of posts.
void SentRequests::flush(CompletionStatus blamed, std::optional<std::uint64_t> culprit) {
  const std::uint64_t guilty = culprit.value_or(queue().completed());
  while (!queue().is_empty()) {
    const CompletionStatus status = queue().completed() == guilty ? blamed : CompletionStatus::kFlushed;
    if (status != CompletionStatus::kSuccess) counters_.fail_request(status);
    completions_.complete_oldest(status);
  }
  current_ = std::max(current_, queue().completed());
}

}  // namespace softdat::simnic
