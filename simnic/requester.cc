// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/requester.h"

#include <algorithm>
#include <utility>

namespace softdat::simnic {
namespace {

using hca::CompletionStatus;
using hca::SendOpcode;

hca::CompletionOpcode completion_opcode(SendOpcode opcode) {
  switch (opcode) {
    case SendOpcode::kSend:
      return hca::CompletionOpcode::kSend;
    case SendOpcode::kWrite:
      return hca::CompletionOpcode::kWrite;
    case SendOpcode::kRead:
      return hca::CompletionOpcode::kRead;
  }
  return hca::CompletionOpcode::kSend;
}

// Where the peer is told to send a response to. We find the place by order, not by these, so that a
// read may be scattered; they only have to come back unchanged.
hca::Segment sink_of(std::span<const hca::Segment> segments) {
  return segments.empty() ? hca::Segment{} : segments.front();
}

Fault bad_response(const transport::TerminateCode& code) {
  return {.code = code, .blamed_send = CompletionStatus::kBadResponse, .is_protocol_breach = true};
}

}  // namespace

void Requester::begin(bool peer_acks, std::uint32_t reads_out) {
  peer_acks_ = peer_acks;
  reads_out_ = reads_out;
  reads_pending_ = 0;
  base_ = sent_ = carried_out_ = answered_ = queue_.completed();
  limit_ = kNoLimit;
  rewind_to_.reset();
  must_announce_ = false;
  stalled_ = CompletionStatus::kSuccess;
}

std::optional<transport::Message> Requester::stall(CompletionStatus status) {
  stalled_ = status;
  return std::nullopt;
}

std::optional<transport::Message> Requester::next() {
  if (stalled_ != CompletionStatus::kSuccess || must_announce_) return std::nullopt;
  if (sent_ >= std::min(queue_.posted(), limit_)) return std::nullopt;
  const SendEntry& entry = queue_.at(sent_);
  if ((entry.flags & hca::kFence) != 0 && reads_pending_ > 0) return std::nullopt;
  if (entry.opcode == SendOpcode::kRead) {
    // A peer that answers no reads at all will not learn to.
    if (reads_out_ == 0) return stall(CompletionStatus::kRemoteOperation);
    if (reads_pending_ >= reads_out_) return std::nullopt;
  }
  if (!is_payload_valid()) return stall(CompletionStatus::kLocalProtection);
  return to_message(entry);
}

transport::Message Requester::to_message(const SendEntry& entry) const {
  transport::Message message{.length = entry.length};
  switch (entry.opcode) {
    case SendOpcode::kSend:
      message.opcode =
          (entry.flags & hca::kSolicited) != 0 ? transport::Opcode::kSendSolicited : transport::Opcode::kSend;
      break;
    case SendOpcode::kWrite:
      message.opcode = transport::Opcode::kWrite;
      // Nobody checks the key of an empty write; but on the wire STag 0 announces a note.
      message.stag = entry.length == 0 ? std::max(entry.rkey, 1u) : entry.rkey;
      message.offset = entry.remote_address;
      break;
    case SendOpcode::kRead: {
      const hca::Segment sink = sink_of(queue_.segments(sent_));
      message.opcode = transport::Opcode::kReadRequest;
      message.stag = sink.lkey;
      message.offset = sink.address;
      message.source_stag = entry.rkey;
      message.source_offset = entry.remote_address;
      break;
    }
  }
  return message;
}

bool Requester::is_payload_valid() const {
  const hca::AccessMask rights = queue_.at(sent_).opcode == SendOpcode::kRead ? hca::kLocalWrite : 0u;
  return check_segments(memory_, queue_.segments(sent_), rights) == KeyFault::kNone;
}

void Requester::on_taken() {
  if (queue_.at(sent_).opcode == SendOpcode::kRead) ++reads_pending_;
  ++sent_;
  if (rewind_to_) rewind();
  if (!peer_acks_) carried_out_ = sent_;
  complete_done();
}

bool Requester::gather(std::uint64_t offset, std::size_t length, transport::SliceList& out) {
  return resolve(memory_, queue_.segments(sent_), 0, offset, length, out) == KeyFault::kNone;
}

bool Requester::on_ack(std::uint64_t count, bool is_partly_taken) {
  const std::uint64_t end = base_ + count;
  // A request may be carried out before the channel has told us that it was taken whole.
  if (count > sent_ - base_ + (is_partly_taken ? 1 : 0)) return false;
  note_carried_out(std::min(end, sent_));
  complete_done();
  return true;
}

bool Requester::on_resend(std::uint64_t from, bool is_partly_taken) {
  const std::uint64_t first = base_ + from;
  if (first < carried_out_ || from > sent_ - base_ || (first == sent_ && !is_partly_taken)) return false;
  if (must_announce_ || rewind_to_) return false;
  note_carried_out(first);
  rewind_to_ = first;
  if (!is_partly_taken) rewind();
  complete_done();
  return true;
}

// What was sent from there on has been dropped by the peer, reads included.
void Requester::rewind() {
  const std::uint64_t first = *std::exchange(rewind_to_, std::nullopt);
  for (std::uint64_t number = first; number < sent_; ++number) {
    if (queue_.at(number).opcode == SendOpcode::kRead) --reads_pending_;
  }
  sent_ = first;
  answered_ = std::min(answered_, first);
  must_announce_ = true;
  stalled_ = CompletionStatus::kSuccess;  // found again when it is its turn again
}

std::optional<std::uint64_t> Requester::find_oldest_read() {
  // Slots of completed requests may hold later ones by now.
  for (answered_ = std::max(answered_, queue_.completed()); answered_ < sent_; ++answered_) {
    if (queue_.at(answered_).opcode == SendOpcode::kRead) return answered_;
  }
  return std::nullopt;
}

Verdict Requester::place(const transport::Arrival& arrival, transport::SliceList& out) {
  // RFC 5040 section 5.2: responses come in the order of the requests, and only for them.
  const auto number = find_oldest_read();
  if (!number) return refuse(bad_response(kTaggedInvalidStag));
  const SendEntry& entry = queue_.at(*number);
  const auto segments = queue_.segments(*number);
  const hca::Segment sink = sink_of(segments);
  if (arrival.length > 0 && arrival.stag != sink.lkey) return refuse(bad_response(kTaggedInvalidStag));
  if (arrival.length > entry.length || arrival.message_offset > entry.length - arrival.length) {
    return refuse(bad_response(kTaggedOutOfBounds));
  }
  if (arrival.length > 0 && arrival.offset != sink.address + arrival.message_offset) {
    return refuse(bad_response(kTaggedOutOfBounds));
  }
  if (arrival.first) {
    note_carried_out(*number + 1);
    complete_done();
  }
  if (resolve(memory_, segments, hca::kLocalWrite, arrival.message_offset, arrival.length, out) != KeyFault::kNone) {
    return refuse({.code = kLocalCatastrophe, .blamed_send = CompletionStatus::kLocalProtection});
  }
  return transport::Placement::kPlace;
}

std::optional<Fault> Requester::on_response(const transport::Message& message) {
  const auto number = find_oldest_read();
  if (!number || message.length != queue_.at(*number).length) return bad_response(kTaggedOutOfBounds);
  answered_ = *number + 1;
  --reads_pending_;
  note_carried_out(answered_);
  complete_done();
  return std::nullopt;
}

void Requester::note_carried_out(std::uint64_t end) {
  carried_out_ = std::max(carried_out_, end);
}

bool Requester::is_done(std::uint64_t number) const {
  return number < (queue_.at(number).opcode == SendOpcode::kRead ? answered_ : carried_out_);
}

void Requester::complete_done() {
  while (queue_.completed() < sent_ && is_done(queue_.completed())) complete_oldest(CompletionStatus::kSuccess);
}

void Requester::complete_oldest(CompletionStatus status) {
  const SendEntry entry = queue_.pop();
  const bool is_success = status == CompletionStatus::kSuccess;
  if (is_success && (entry.flags & hca::kSignaled) == 0) return;
  feed_.push(entry.wr_id, completion_opcode(entry.opcode), status, is_success ? entry.length : 0, false,
             (entry.flags & hca::kQuiet) != 0);
}

std::optional<Fault> Requester::find_fault() const {
  if (stalled_ == CompletionStatus::kSuccess || queue_.completed() != sent_) return std::nullopt;
  return Fault{.code = kLocalCatastrophe, .blamed_send = stalled_};
}

void Requester::flush(CompletionStatus blamed, std::optional<std::uint64_t> culprit) {
  const std::uint64_t guilty = culprit.value_or(queue_.completed());
  while (!queue_.is_empty()) {
    complete_oldest(queue_.completed() == guilty ? blamed : CompletionStatus::kFlushed);
  }
  sent_ = std::max(sent_, queue_.completed());
}

void Requester::discard() {
  while (!queue_.is_empty()) queue_.pop();
}

bool Requester::is_oldest_read() const {
  return !queue_.is_empty() && queue_.at(queue_.completed()).opcode == SendOpcode::kRead;
}

}  // namespace softdat::simnic
