// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/responder.h"

#include <algorithm>

#include "base/ordered_copy.h"
#include "base/probe.h"
#include "simnic/atomic_operation.h"

namespace softdat::simnic {
namespace {

using hca::CompletionStatus;
using transport::Opcode;
using transport::Placement;

bool invalidates(Opcode opcode) {
  return opcode == Opcode::kSendInvalidate || opcode == Opcode::kSendSolicitedInvalidate;
}

bool is_attention_wanted(Opcode opcode) {
  return opcode == Opcode::kSendSolicited || opcode == Opcode::kSendSolicitedInvalidate ||
         opcode == Opcode::kSendPlacedSolicited;
}

// Messages whose opcode has no business here (RFC 5040 section 7.2).
Fault unexpected_opcode() {
  return {.code = kUnexpectedOpcode, .is_protocol_breach = true};
}

}  // namespace

void Responder::begin(bool takes_notes, RnrPolicy policy) {
  takes_notes_ = takes_notes;
  waits_for_receives_ = takes_notes && policy == RnrPolicy::kWait;
  is_deaf_ = is_dropping_ = has_asked_again_ = false;
  carried_out_ = acknowledged_ = ack_wanted_ = reads_taken_in_ = 0;
  reads_.clear();
  failure_.reset();
  written_.reset();
  is_starved_.store(false, std::memory_order_seq_cst);
}

// A post_recv pushes and then looks at is_starved_; we set it and then look at the queue: either we
// see the receive, or the poster rings.
bool Responder::has_receive() {
  if (!queue_.is_empty()) return true;
  if (source_.shared != nullptr) return source_.shared->take(queue_, *source_.starving);
  is_starved_.store(true, std::memory_order_seq_cst);
  if (queue_.is_empty()) return false;
  is_starved_.store(false, std::memory_order_seq_cst);
  return true;
}

Verdict Responder::place(const transport::Arrival& arrival, transport::SliceList& out) {
  if (is_deaf_ || is_dropping_) return Placement::kDiscard;
  if (arrival.opcode == Opcode::kWrite) return place_write(arrival, out);
  return place_send(arrival, out);
}

Verdict Responder::place_write(const transport::Arrival& arrival, transport::SliceList& out) {
  std::byte* to = nullptr;
  const AccessError fault = memory_.locate(arrival.stag, arrival.offset, arrival.length, hca::kRemoteWrite, to);
  if (fault != AccessError::kNone) {
    note_access(hca::CompletionOpcode::kWrite, arrival.stag, arrival.offset, arrival.length, hca::kRemoteWrite);
    return refuse({.code = write_refusal(fault)});
  }
  if (arrival.length > 0) out.add(to, arrival.length);
  return Placement::kPlace;
}

Verdict Responder::place_send(const transport::Arrival& arrival, transport::SliceList& out) {
  // RFC 5041 section 7.1: a buffer must stand ready for the message's sequence number.
  if (!has_receive()) {
    counters_.add_rnr_wait();
    is_dropping_ = waits_for_receives_;
    if (is_dropping_) return Placement::kDiscard;
    note_lack(arrival.length);
    return refuse({.code = kNoBuffer});
  }
  const std::uint64_t number = queue_.completed();
  const RecvEntry& entry = queue_.at(number);
  // RFC 5041 section 7.1: the message must fit.
  if (arrival.length > entry.length || arrival.message_offset > entry.length - arrival.length) {
    note_length(entry, number, arrival.message_offset + arrival.length);
    return refuse({.code = kMessageTooLong, .blamed_recv = CompletionStatus::kLocalLength});
  }
  const AccessError fault = resolve(recv_memory_, entry.found, queue_.segments(number), hca::kLocalWrite,
                                    arrival.message_offset, arrival.length, out);
  if (fault != AccessError::kNone) {
    note_receive_memory();
    return refuse(receive_fault());
  }
  return Placement::kPlace;
}

// A send that voids no key, and whose payload is in its place.
void Responder::deliver(Opcode opcode, std::uint32_t length) {
  SOFTDAT_PROBE(place, feed_.context(), hca::SendOpcode::kSend, length);
  ack_wanted_ = ++carried_out_;
  written_.reset();
  complete_oldest(CompletionStatus::kSuccess, length, is_attention_wanted(opcode));
}

bool Responder::may_take(const transport::ShortSend& short_send) const {
  if (queue_.is_empty()) return false;
  const RecvEntry& entry = queue_.at(queue_.completed());
  return short_send.payload.size() <= entry.length && still_holds(recv_memory_, entry.found);
}

bool Responder::take(const transport::ShortSend& short_send) {
  const auto length = static_cast<std::uint32_t>(short_send.payload.size());
  std::byte* const to = queue_.at(queue_.completed()).found.place;
  if (length > 0 && !base::copy_ordered(to, short_send.payload.data(), length)) return false;
  deliver(short_send.opcode, length);
  return true;
}

// To the peer, memory of ours that it may write and that is not there is as a key that is not there.
std::optional<Fault> Responder::on_fault(const transport::Arrival& arrival) {
  if (is_deaf_ || is_dropping_) return std::nullopt;
  if (arrival.opcode == Opcode::kWrite) {
    note_access(hca::CompletionOpcode::kWrite, arrival.stag, arrival.offset, arrival.length, hca::kRemoteWrite);
    return Fault{.code = write_refusal(AccessError::kBadKey)};
  }
  note_receive_memory();
  return receive_fault();
}

std::optional<Fault> Responder::on_request(const transport::Message& message) {
  if (is_deaf_ || is_dropping_) return std::nullopt;
  switch (message.opcode) {
    case Opcode::kSend:
    case Opcode::kSendSolicited:
    case Opcode::kSendInvalidate:
    case Opcode::kSendSolicitedInvalidate:
      return on_send(message);
    case Opcode::kSendPlaced:
    case Opcode::kSendPlacedSolicited:
      return on_placed(message);
    case Opcode::kWrite:
      return on_write(message);
    case Opcode::kImmediate:
    case Opcode::kImmediateSolicited:
      return on_immediate(message);
    case Opcode::kReadRequest:
      return on_read_request(message);
    case Opcode::kAtomicRequest:
      return on_atomic_request(message);
    default:
      return unexpected_opcode();
  }
}

std::optional<Fault> Responder::on_send(const transport::Message& message) {
  // place() has seen every byte of it, so the buffer is there and long enough.
  if (queue_.is_empty() || message.length > queue_.at(queue_.completed()).length) return unexpected_opcode();
  if (!invalidates(message.opcode)) {
    deliver(message.opcode, message.length);
    return std::nullopt;
  }
  SOFTDAT_PROBE(place, feed_.context(), hca::SendOpcode::kSend, message.length);
  // RFC 5040 section 5.1: the key is void before the message is delivered.
  if (memory_.table.invalidate(message.stag, memory_.who) != AccessError::kNone) {
    if (hca::Failure* noted = note_failure(hca::CompletionOpcode::kSend, hca::Rule::kNoWindow)) {
      noted->key = message.stag;
    }
    return Fault{.code = kCannotInvalidate};
  }
  ack_wanted_ = ++carried_out_;
  written_.reset();
  complete_oldest(CompletionStatus::kSuccess, message.length, is_attention_wanted(message.opcode),
                  hca::CompletionOpcode::kRecvInvalidate, message.stag);
  return std::nullopt;
}

std::optional<Fault> Responder::on_write(const transport::Message& message) {
  SOFTDAT_PROBE(place, feed_.context(), hca::SendOpcode::kWrite, message.length);
  ack_wanted_ = ++carried_out_;
  written_ = message.length;
  return std::nullopt;
}

// RFC 7306 section 6: it takes a receive, and belongs to the write that it follows.
std::optional<Fault> Responder::on_immediate(const transport::Message& message) {
  if (!has_receive()) {
    counters_.add_rnr_wait();
    is_dropping_ = waits_for_receives_;
    if (is_dropping_) return std::nullopt;
    note_lack(0);
    return Fault{.code = kNoBuffer};
  }
  ack_wanted_ = ++carried_out_;
  const auto written = std::exchange(written_, std::nullopt);
  complete_oldest(CompletionStatus::kSuccess, written.value_or(0), message.opcode == Opcode::kImmediateSolicited,
                  written ? hca::CompletionOpcode::kRecvWriteImmediate : hca::CompletionOpcode::kRecvImmediate,
                  static_cast<std::uint32_t>(message.operand));
  return std::nullopt;
}

// The sender knew this receive from our board; that it is there and long enough he cannot make us believe.
std::optional<Fault> Responder::on_placed(const transport::Message& message) {
  if (queue_.is_empty() || message.length > queue_.at(queue_.completed()).length) return unexpected_opcode();
  deliver(message.opcode, message.length);
  return std::nullopt;
}

std::optional<Fault> Responder::on_read_request(const transport::Message& message) {
  // RFC 5040 section 6.3: requests beyond our IRD find no buffer on their queue.
  if (reads_.full()) {
    if (hca::Failure* noted = note_failure(hca::CompletionOpcode::kRead, hca::Rule::kTooManyReads)) {
      noted->room = reads_.capacity();
    }
    return Fault{.code = kNoBuffer, .is_protocol_breach = true};
  }
  const AccessError fault = memory_.check(message.source_stag, message.source_offset, message.length, hca::kRemoteRead);
  if (fault != AccessError::kNone) {
    note_access(hca::CompletionOpcode::kRead, message.source_stag, message.source_offset, message.length,
                hca::kRemoteRead);
    return Fault{.code = read_refusal(fault)};
  }
  reads_.push_back({.number = carried_out_,
                    .is_atomic = false,
                    .request_id = 0,
                    .original = 0,
                    .source_offset = message.source_offset,
                    .sink_offset = message.offset,
                    .source_stag = message.source_stag,
                    .sink_stag = message.stag,
                    .length = message.length});
  ++carried_out_;
  ++reads_taken_in_;
  written_.reset();
  return std::nullopt;
}

std::optional<Fault> Responder::on_atomic_request(const transport::Message& message) {
  if (reads_.full()) return Fault{.code = kNoBuffer, .is_protocol_breach = true};
  if (!is_known_atomic(message.atomic_code)) return unexpected_opcode();
  constexpr std::uint32_t kSize = sizeof(std::uint64_t);
  std::byte* target = nullptr;
  const AccessError fault =
      memory_.locate(message.source_stag, message.source_offset, kSize, hca::kRemoteAtomic, target);
  const hca::CompletionOpcode operation = message.atomic_code == transport::kFetchAddCode
                                              ? hca::CompletionOpcode::kFetchAdd
                                              : hca::CompletionOpcode::kCompareSwap;
  if (fault != AccessError::kNone) {
    note_access(operation, message.source_stag, message.source_offset, kSize, hca::kRemoteAtomic);
    return Fault{.code = read_refusal(fault)};
  }
  if (reinterpret_cast<std::uintptr_t>(target) % kSize != 0) {
    if (hca::Failure* noted = note_failure(operation, hca::Rule::kMisaligned)) noted->address = message.source_offset;
    return Fault{.code = kBadAtomic};
  }
  const auto original = carry_out_atomic(message, target);
  if (!original) {
    note_access(operation, message.source_stag, message.source_offset, kSize, hca::kRemoteAtomic);
    return Fault{.code = read_refusal(AccessError::kBadKey)};
  }
  reads_.push_back({.number = carried_out_,
                    .is_atomic = true,
                    .request_id = message.request_id,
                    .original = *original,
                    .source_offset = message.source_offset,
                    .sink_offset = 0,
                    .source_stag = message.source_stag,
                    .sink_stag = 0,
                    .length = 0});
  ++carried_out_;
  ++reads_taken_in_;
  written_.reset();
  return std::nullopt;
}

void Responder::on_asked_again() {
  has_asked_again_ = true;
  if (source_.shared != nullptr) source_.shared->sate(*source_.starving);
}

bool Responder::on_resent(std::uint64_t number) {
  if (!is_dropping_ || !has_asked_again_ || number != carried_out_) return false;
  is_dropping_ = has_asked_again_ = false;
  return true;
}

transport::Message Responder::next() const {
  const IncomingRead& read = reads_.front();
  if (read.is_atomic) {
    return {.opcode = Opcode::kAtomicResponse, .request_id = read.request_id, .operand = read.original};
  }
  return {.opcode = Opcode::kReadResponse, .length = read.length, .stag = read.sink_stag, .offset = read.sink_offset};
}

AccessError Responder::check_payload() const {
  const IncomingRead& read = reads_.front();
  if (read.is_atomic) return AccessError::kNone;  // it has been carried out
  return memory_.check(read.source_stag, read.source_offset, read.length, hca::kRemoteRead);
}

// A response tells the peer as much as an ack of everything up to its request.
void Responder::on_taken() {
  acknowledged_ = std::max(acknowledged_, reads_.front().number + 1);
  reads_.pop_front();
}

bool Responder::gather(std::uint64_t offset, std::size_t length, transport::SliceList& out) {
  const IncomingRead& read = reads_.front();
  std::byte* from = nullptr;
  const AccessError fault = memory_.locate(read.source_stag, read.source_offset, read.length, hca::kRemoteRead, from);
  return fault == AccessError::kNone && out.add(from + offset, length);
}

void Responder::complete_oldest(CompletionStatus status, std::uint32_t length, bool is_solicited,
                                hca::CompletionOpcode opcode, std::uint32_t extra) {
  const RecvEntry& oldest = queue_.at(queue_.completed());
  const bool voids_key = opcode == hca::CompletionOpcode::kRecvInvalidate;
  const hca::Completion completion{
      .wr_id = oldest.wr_id,
      .qp_context = 0,
      .length = length,
      .status = status,
      .opcode = opcode,
      .solicited = is_solicited,
      .invalidated = voids_key ? extra : 0,
      .srq_account = source_.shared == nullptr ? std::uint16_t{0} : source_.shared->account(),
      .immediate = voids_key ? 0 : extra};
  const bool is_quiet = (oldest.flags & hca::kQuiet) != 0;
  queue_.drop_oldest();
  if (status == CompletionStatus::kSuccess) [[likely]]
    counters_.add(transfer_of(opcode), length);
  else
    counters_.fail_receive(status);
  feed_.push_with_baton(completion, is_quiet);
}

void Responder::flush(CompletionStatus blamed) {
  reads_.clear();
  if (source_.shared != nullptr) source_.shared->sate(*source_.starving);
  for (CompletionStatus status = blamed; !queue_.is_empty(); status = CompletionStatus::kFlushed) {
    complete_oldest(status, 0, false);
  }
}

void Responder::discard() {
  if (source_.shared != nullptr) return flush(CompletionStatus::kFlushed);
  reads_.clear();
  while (!queue_.is_empty()) queue_.drop_oldest();
}

}  // namespace softdat::simnic
