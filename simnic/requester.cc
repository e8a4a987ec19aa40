// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/requester.h"

#include <algorithm>
#include <utility>

#include "base/ordered_copy.h"
#include "base/probe.h"
#include "hca/memory_observer.h"
#include "hca/request_rules.h"
#include "simnic/atomic_operation.h"
#include "simnic/window_state.h"

namespace softdat::simnic {
namespace {

using hca::CompletionStatus;
using hca::SendOpcode;

// Where the peer is told to send a response to. We find the place by order, not by these, so that a
// read may be scattered; they only have to come back unchanged.
hca::Segment sink_of(std::span<const hca::Segment> segments) {
  return segments.empty() ? hca::Segment{} : segments.front();
}

transport::Opcode send_opcode(std::uint32_t flags) {
  using transport::Opcode;
  const bool is_solicited = (flags & hca::kSolicited) != 0;
  if ((flags & kPlaced) != 0) return is_solicited ? Opcode::kSendPlacedSolicited : Opcode::kSendPlaced;
  return is_solicited ? Opcode::kSendSolicited : Opcode::kSend;
}

// Sent whatever the peer can do and whatever is under way.
bool goes_anyhow(const SendEntry& entry) {
  return (entry.opcode == SendOpcode::kSend || entry.opcode == SendOpcode::kWrite) && (entry.flags & hca::kFence) == 0;
}

WindowState& window_of(const SendEntry& bind) {
  return *reinterpret_cast<WindowState*>(static_cast<std::uintptr_t>(bind.remote_address));
}

// What tells one atomic's response from another's.
std::uint32_t request_id(std::uint64_t number) {
  return static_cast<std::uint32_t>(number);
}

Fault bad_response(const transport::TerminateCode& code) {
  return {.code = code, .blamed_send = CompletionStatus::kBadResponse, .is_protocol_breach = true};
}

}  // namespace

void Requester::begin(transport::Features features, std::uint32_t ord) {
  features_ = features;
  ord_ = ord;
  reads_pending_ = 0;
  sent_ = bound_ = answered_ = queue_.completed();
  messages_ = carried_out_ = 0;
  is_write_taken_ = false;
  limit_ = kNoLimit;
  rewind_to_.reset();
  must_announce_ = false;
  stalled_ = CompletionStatus::kSuccess;
}

bool Requester::next(transport::Message& message) {
  if (is_stalled() || must_announce_) return false;
  // One look at what is posted: more may come at any moment, and has its turn then.
  const std::uint64_t end = std::min(queue_.posted(), limit_);
  if (sent_ >= end || (queue_.at(sent_).opcode == SendOpcode::kBind && !carry_out_binds(end))) return false;
  const SendEntry& entry = queue_.at(sent_);
  if (!goes_anyhow(entry) && !may_follow(entry)) return false;
  if (!is_payload_valid()) stalled_ = CompletionStatus::kLocalProtection;
  if (is_stalled()) return false;
  write_message(entry, message);
  return true;
}

bool Requester::next_short_send(transport::ShortSend& short_send) const {
  if (sent_ >= queue_.posted()) return false;
  const SendEntry& entry = queue_.at(sent_);
  const bool is_short = entry.opcode == SendOpcode::kSend && (entry.flags & (hca::kFence | kPlaced)) == 0;
  if (!is_short || !still_holds(memory_, entry.found)) return false;
  short_send.opcode = send_opcode(entry.flags);
  short_send.payload = {entry.found.place, entry.length};
  return true;
}

// Whether its turn has come, as far as the peer and what is under way are concerned.
bool Requester::may_follow(const SendEntry& entry) {
  if (!can_peer_do(entry.opcode)) {
    stalled_ = CompletionStatus::kRemoteOperation;
    return false;
  }
  if (!is_write_taken_ && (entry.flags & hca::kFence) != 0 && reads_pending_ > 0) return false;
  return !hca::awaits_response(entry.opcode) || reads_pending_ < ord_;
}

// One after the other, as far as they come next. True when a message follows before `end`; not when a
// bind has to wait, or has failed. A bind that the peer's wish for a repetition brings up again is not
// carried out again.
bool Requester::carry_out_binds(std::uint64_t end) {
  const std::uint64_t first = sent_;
  for (; sent_ < end && queue_.at(sent_).opcode == SendOpcode::kBind; ++sent_) {
    SendEntry& entry = queue_.at(sent_);
    if ((entry.flags & hca::kFence) != 0 && reads_pending_ > 0) break;
    if (sent_ >= bound_ && !carry_out(entry)) {
      stalled_ = CompletionStatus::kBindFailed;
      break;
    }
    bound_ = std::max(bound_, sent_ + 1);
    entry.message_end = messages_;
  }
  const bool has_message = sent_ < end && queue_.at(sent_).opcode != SendOpcode::kBind;
  if (sent_ != first) complete_done();
  return has_message;
}

bool Requester::carry_out(const SendEntry& bind) {
  WindowState& window = window_of(bind);
  if (window.is_gone()) {
    if (bind.rkey != 0) memory_.table.remove(bind.rkey);
    return true;
  }
  if (bind.rkey != 0 && !memory_.table.open(bind.rkey)) return false;
  if (const std::uint32_t old = window.key())
    memory_.table.remove(old, bind.rkey == 0 ? KeyEnd::kUnbound : KeyEnd::kRebound);
  window.set_key(bind.rkey);
  return true;
}

// Leaves the queue. A bind that is told as flushed has bound nothing, even if it had been carried out.
void Requester::end_bind(const SendEntry& bind, std::uint64_t number, bool is_success) {
  WindowState& window = window_of(bind);
  const bool is_open = window.key() == bind.rkey;
  if (!is_success && bind.rkey != 0 && (number >= bound_ || is_open)) {
    memory_.table.remove(bind.rkey);
    if (is_open) window.set_key(0);
  }
  window.release();
}

// A peer that cannot, or answers no reads at all, will not learn to.
bool Requester::can_peer_do(SendOpcode opcode) const {
  if (hca::awaits_response(opcode) && ord_ == 0) return false;
  if (hca::is_atomic(opcode)) return (features_ & transport::kAtomics) != 0;
  return opcode != SendOpcode::kWriteWithImmediate || (features_ & transport::kImmediates) != 0;
}

void Requester::write_message(const SendEntry& entry, transport::Message& message) const {
  message.begin(send_opcode(entry.flags), entry.length);
  switch (entry.opcode) {
    case SendOpcode::kSend:
      break;
    case SendOpcode::kSendInvalidate:
      message.opcode = (entry.flags & hca::kSolicited) != 0 ? transport::Opcode::kSendSolicitedInvalidate
                                                            : transport::Opcode::kSendInvalidate;
      message.stag = entry.rkey;
      break;
    case SendOpcode::kWriteWithImmediate:
      if (is_write_taken_) {
        message.begin((entry.flags & hca::kSolicited) != 0 ? transport::Opcode::kImmediateSolicited
                                                           : transport::Opcode::kImmediate,
                      0);
        message.operand = entry.operand;
        break;
      }
      [[fallthrough]];
    case SendOpcode::kWrite:
      message.opcode = transport::Opcode::kWrite;
      // The key of an empty write is not checked. It must not be 0, because STag 0 announces a note on the wire.
      message.stag = entry.length == 0 ? std::max(entry.rkey, 1u) : entry.rkey;
      message.offset = entry.remote_address;
      break;
    case SendOpcode::kRead:
    case SendOpcode::kReadToWindow: {
      const hca::Segment sink = sink_of(queue_.segments(sent_));
      message.opcode = transport::Opcode::kReadRequest;
      message.stag = sink.lkey;
      message.offset = sink.address;
      message.source_stag = entry.rkey;
      message.source_offset = entry.remote_address;
      break;
    }
    case SendOpcode::kBind:
      break;  // carry_out_binds() has left none here
    case SendOpcode::kFetchAdd:
    case SendOpcode::kCompareSwap:
      message = to_atomic(entry);
      break;
  }
}

transport::Message Requester::to_atomic(const SendEntry& entry) const {
  transport::Message message = make_atomic(entry.opcode, entry.operand, entry.compare);
  message.source_stag = entry.rkey;
  message.source_offset = entry.remote_address;
  message.request_id = request_id(sent_);
  return message;
}

bool Requester::is_payload_valid() const {
  const SendEntry& entry = queue_.at(sent_);
  if (still_holds(memory_, entry.found) || is_write_taken_ || (entry.flags & kPlaced) != 0) return true;
  return check_segments(memory_, queue_.segments(sent_), local_rights(entry.opcode)) == AccessError::kNone;
}

void Requester::on_taken() {
  SendEntry& entry = queue_.at(sent_);
  ++messages_;
  is_write_taken_ = entry.opcode == SendOpcode::kWriteWithImmediate && !is_write_taken_;
  if (!is_write_taken_) {
    if (hca::awaits_response(entry.opcode)) ++reads_pending_;
    entry.message_end = messages_;
    ++sent_;
  }
  if (rewind_to_) rewind();
  if ((features_ & transport::kNotes) != 0) return;
  carried_out_ = messages_;
  complete_done();
}

bool Requester::gather(std::uint64_t offset, std::size_t length, transport::SliceList& out) {
  const SendEntry& entry = queue_.at(sent_);
  return resolve(memory_, entry.found, queue_.segments(sent_), kLocalRead, offset, length, out) == AccessError::kNone;
}

bool Requester::on_ack(std::uint64_t count, bool is_partly_taken) {
  // A message may be carried out before the channel has told us that it was taken whole.
  if (count > messages_ + (is_partly_taken ? 1 : 0)) return false;
  note_carried_out(std::min(count, messages_));
  complete_done();
  return true;
}

bool Requester::on_resend(std::uint64_t from, bool is_partly_taken) {
  if (from < carried_out_ || from > messages_ || (from == messages_ && !is_partly_taken)) return false;
  if (must_announce_ || rewind_to_) return false;
  note_carried_out(from);
  counters_.add_resend();
  rewind_to_ = from;
  if (!is_partly_taken) rewind();
  complete_done();
  return true;
}

// What was sent from there on has been dropped by the peer, reads included. Of a write with
// immediate data perhaps only the latter.
void Requester::rewind() {
  const std::uint64_t first = *std::exchange(rewind_to_, std::nullopt);
  is_write_taken_ = is_write_taken_ && first == messages_;
  while (sent_ > queue_.completed() && queue_.at(sent_ - 1).message_end > first) {
    const SendEntry& entry = queue_.at(--sent_);
    if (hca::awaits_response(entry.opcode)) --reads_pending_;
    is_write_taken_ = entry.opcode == SendOpcode::kWriteWithImmediate && entry.message_end == first + 1;
  }
  messages_ = first;
  answered_ = std::min(answered_, sent_);
  must_announce_ = true;
  stalled_ = CompletionStatus::kSuccess;  // found again when it is its turn again
}

std::optional<std::uint64_t> Requester::find_oldest_read() {
  // Slots of completed requests may hold later ones by now.
  for (answered_ = std::max(answered_, queue_.completed()); answered_ < sent_; ++answered_) {
    if (hca::awaits_response(queue_.at(answered_).opcode)) return answered_;
  }
  return std::nullopt;
}

Verdict Requester::place(const transport::Arrival& arrival, transport::SliceList& out) {
  // RFC 5040 section 5.2: responses come in the order of the requests, and only for them.
  const auto number = find_oldest_read();
  if (!number) return refuse(bad_response(kTaggedInvalidStag));
  const SendEntry& entry = queue_.at(*number);
  if (hca::is_atomic(entry.opcode)) return refuse(bad_response(kTaggedInvalidStag));
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
    note_carried_out(entry.message_end);
    complete_done();
  }
  const hca::AccessMask rights = local_rights(entry.opcode);
  if (resolve(memory_, entry.found, segments, rights, arrival.message_offset, arrival.length, out) !=
      AccessError::kNone) {
    return refuse(local_fault());
  }
  return transport::Placement::kPlace;
}

std::optional<Fault> Requester::on_response(const transport::Message& message) {
  const auto number = find_oldest_read();
  const bool answers_atomic = message.opcode == transport::Opcode::kAtomicResponse;
  if (!number || answers_atomic != hca::is_atomic(queue_.at(*number).opcode)) return bad_response(kUnexpectedOpcode);
  if (answers_atomic && message.request_id != request_id(*number)) return bad_response(kUnexpectedOpcode);
  if (!answers_atomic && message.length != queue_.at(*number).length) return bad_response(kTaggedOutOfBounds);
  SOFTDAT_PROBE(place, feed_.context(), queue_.at(*number).opcode, queue_.at(*number).length);
  // Whatever was asked before it has been carried out, so that what fails now is the oldest.
  note_carried_out(queue_.at(*number).message_end);
  complete_done();
  if (answers_atomic) {
    if (const auto fault = take_original(*number, message.operand)) return fault;
  }
  answered_ = *number + 1;
  --reads_pending_;
  complete_done();
  return std::nullopt;
}

// What the peer's eight bytes were before, in our own byte order.
std::optional<Fault> Requester::take_original(std::uint64_t number, std::uint64_t original) {
  transport::SliceList slices;
  if (resolve(memory_, queue_.segments(number), hca::kLocalWrite, 0, sizeof original, slices) != AccessError::kNone) {
    return local_fault();
  }
  const auto* from = reinterpret_cast<const std::byte*>(&original);
  hca::MemoryObserver* const observer = hca::memory_observer.load(std::memory_order_relaxed);
  for (const transport::Slice& slice : slices.slices()) {
    // The carrier does not see this store (simnic/observed_carrier.h).
    if (observer != nullptr) observer->before_store(hca::StoreOrigin::kCompletion, {slice.data, slice.length});
    if (!base::copy_ordered(slice.data, from, slice.length)) return local_fault();
    from += slice.length;
  }
  return std::nullopt;
}

void Requester::note_carried_out(std::uint64_t messages) {
  carried_out_ = std::max(carried_out_, messages);
}

bool Requester::is_done(std::uint64_t number) const {
  const SendEntry& entry = queue_.at(number);
  return hca::awaits_response(entry.opcode) ? number < answered_ : entry.message_end <= carried_out_;
}

void Requester::complete_done() {
  while (queue_.completed() < sent_ && is_done(queue_.completed())) complete_oldest(CompletionStatus::kSuccess);
}

void Requester::complete_oldest(CompletionStatus status) {
  const std::uint64_t number = queue_.completed();
  const SendEntry& oldest = queue_.at(number);
  if (oldest.opcode == SendOpcode::kBind) {
    complete_bind(status);
  } else {
    // Copied out: once it has left the queue its slot may be filled anew.
    const bool is_success = status == CompletionStatus::kSuccess;
    const hca::Completion completion{.wr_id = oldest.wr_id,
                                     .qp_context = 0,
                                     .length = is_success ? oldest.length : 0,
                                     .status = status,
                                     .opcode = hca::completion_opcode(oldest.opcode),
                                     .solicited = false};
    const std::uint32_t flags = oldest.flags;
    queue_.drop_oldest();
    const bool is_wanted = !is_success || (flags & hca::kSignaled) != 0;
    if (is_wanted) feed_.push_with_baton(completion, (flags & hca::kQuiet) != 0);
  }
  settled_.store(number + 1, std::memory_order_release);
}

void Requester::complete_bind(CompletionStatus status) {
  const std::uint64_t number = queue_.completed();
  const SendEntry bind = queue_.pop();
  const bool is_success = status == CompletionStatus::kSuccess;
  const std::uint64_t context = window_of(bind).context();
  end_bind(bind, number, is_success);
  if (is_success && (bind.flags & hca::kSignaled) == 0) return;
  feed_.push_bind(bind.wr_id, context, status, (bind.flags & hca::kQuiet) != 0);
}

void Requester::complete_directly(const hca::SendRequest& request, std::uint32_t length) {
  SOFTDAT_PROBE(place_directly, feed_.context(), request.opcode, length);
  if ((request.flags & hca::kSignaled) == 0) return;
  feed_.push({.wr_id = request.wr_id,
              .qp_context = 0,
              .length = length,
              .status = CompletionStatus::kSuccess,
              .opcode = hca::completion_opcode(request.opcode),
              .solicited = false},
             (request.flags & hca::kQuiet) != 0);
}

std::optional<Fault> Requester::find_fault() const {
  if (stalled_ == CompletionStatus::kSuccess || queue_.completed() != sent_) return std::nullopt;
  return Fault{.code = kLocalCatastrophe, .blamed_send = stalled_};
}

void Requester::flush(CompletionStatus blamed, std::optional<std::uint64_t> culprit) {
  const std::uint64_t guilty = culprit.value_or(queue_.completed());
  while (!queue_.is_empty()) {
    const CompletionStatus status = queue_.completed() == guilty ? blamed : CompletionStatus::kFlushed;
    if (status != CompletionStatus::kSuccess) counters_.fail_request(status);
    complete_oldest(status);
  }
  sent_ = std::max(sent_, queue_.completed());
}

void Requester::discard() {
  while (!queue_.is_empty()) {
    const std::uint64_t number = queue_.completed();
    const SendEntry entry = queue_.pop();
    if (entry.opcode == SendOpcode::kBind) end_bind(entry, number, false);
  }
  settled_.store(queue_.completed(), std::memory_order_release);
}

bool Requester::is_oldest_read() const {
  return !queue_.is_empty() && hca::awaits_response(queue_.at(queue_.completed()).opcode);
}

}  // namespace softdat::simnic
