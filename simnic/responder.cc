// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/responder.h"

#include "base/ordered_copy.h"
#include "base/probe.h"

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

// Waiting for receives needs a peer that can send again, so a foreign one is terminated (docs/decisions/0002).
void Responder::begin(bool takes_notes, RnrPolicy policy) {
  acks_.begin(takes_notes);
  failure_.begin();
  reads_.begin();
  waits_for_receives_ = takes_notes && policy == RnrPolicy::kWait;
  is_deaf_ = is_dropping_ = has_asked_again_ = false;
  write_end_ = kNone;
}

Verdict Responder::place(const transport::Arrival& arrival, transport::SliceList& out) {
  if (is_deaf_ || is_dropping_) return Placement::kDiscard;
  if (arrival.opcode == Opcode::kWrite) return place_write(arrival, out);
  // RFC 5041 section 7.1: a buffer must stand ready for the message's sequence number.
  if (receives_.has_receive()) return receives_.place(arrival, out, failure_);
  if (const auto fault = lack_receive(arrival.length)) return refuse(*fault);
  return Placement::kDiscard;
}

Verdict Responder::place_write(const transport::Arrival& arrival, transport::SliceList& out) {
  std::byte* to = nullptr;
  // Looked up for each piece that arrives: a key that is revoked in mid-message stops the rest.
  const AccessError fault = memory_.locate(arrival.stag, arrival.offset, arrival.length, hca::kRemoteWrite, to);
  if (fault != AccessError::kNone) {
    failure_.note_access(hca::CompletionOpcode::kWrite, arrival.stag, arrival.offset, arrival.length,
                         hca::kRemoteWrite);
    return refuse({.code = write_refusal(fault)});
  }
  if (arrival.length > 0) out.add(to, arrival.length);
  return Placement::kPlace;
}

// A message of this length has found no receive. Nothing: the peer is to send it again.
std::optional<Fault> Responder::lack_receive(std::uint64_t length) {
  counters_.add_rnr_wait();
  // While dropping, no message counts until the peer repeats from this one on (notes 2 and 3, docs/decisions/0002).
  is_dropping_ = waits_for_receives_;
  if (is_dropping_) return std::nullopt;
  receives_.note_lack(length, failure_);
  return Fault{.code = kNoBuffer};
}

bool Responder::place(const transport::ShortSend& short_send) {
  const auto length = static_cast<std::uint32_t>(short_send.payload.size());
  std::byte* const to = queue().at(queue().completed()).found.place;
  if (length > 0 && !base::copy_ordered(to, short_send.payload.data(), length)) return false;
  SOFTDAT_PROBE(place, receives_.feed().context(), hca::SendOpcode::kSend, length);
  acks_.count();
  return true;
}

// To the peer, memory of ours that it may write and that is not there is as a key that is not there.
std::optional<Fault> Responder::on_fault(const transport::Arrival& arrival) {
  if (is_deaf_ || is_dropping_) return std::nullopt;
  if (arrival.opcode == Opcode::kWrite) {
    failure_.note_access(hca::CompletionOpcode::kWrite, arrival.stag, arrival.offset, arrival.length,
                         hca::kRemoteWrite);
    return Fault{.code = write_refusal(AccessError::kBadKey)};
  }
  receives_.note_memory(failure_);
  return receive_fault();
}

// Completed and counted in the order of arrival. Acks name the count, so every request must pass here once.
std::optional<Fault> Responder::on_request(const transport::Message& message) {
  if (is_deaf_ || is_dropping_) return std::nullopt;
  switch (message.opcode) {
    case Opcode::kSend:
    case Opcode::kSendSolicited:
    case Opcode::kSendInvalidate:
    case Opcode::kSendSolicitedInvalidate:
    case Opcode::kSendPlaced:
    case Opcode::kSendPlacedSolicited:
      return on_send(message);
    case Opcode::kWrite:
      SOFTDAT_PROBE(place, receives_.feed().context(), hca::SendOpcode::kWrite, message.length);
      acks_.count();
      written_ = message.length;
      write_end_ = acks_.carried_out();
      return std::nullopt;
    case Opcode::kImmediate:
    case Opcode::kImmediateSolicited:
      return on_immediate(message);
    case Opcode::kReadRequest:
    case Opcode::kAtomicRequest:
      return reads_.take_in(message);
    default:
      return unexpected_opcode();
  }
}

// place() has seen every byte of it, so the receive is there and long enough. Not so if the sender placed it: it knew
// the receive from the key directory, and is not believed.
std::optional<Fault> Responder::on_send(const transport::Message& message) {
  if (queue().is_empty() || message.length > queue().at(queue().completed()).length) return unexpected_opcode();
  SOFTDAT_PROBE(place, receives_.feed().context(), hca::SendOpcode::kSend, message.length);
  const bool voids_key = invalidates(message.opcode);
  // RFC 5040 section 5.1: the key is void before the message is delivered.
  if (voids_key && memory_.table.invalidate(message.stag, memory_.who) != AccessError::kNone) {
    hca::Failure* const noted = failure_.note(hca::CompletionOpcode::kSend, hca::Rule::kNoWindow);
    if (noted != nullptr) noted->key = message.stag;
    return Fault{.code = kCannotInvalidate};
  }
  acks_.count();
  const auto opcode = voids_key ? hca::CompletionOpcode::kRecvInvalidate : hca::CompletionOpcode::kRecv;
  receives_.complete_oldest(CompletionStatus::kSuccess, message.length, is_attention_wanted(message.opcode), opcode,
                            voids_key ? message.stag : 0);
  return std::nullopt;
}

// RFC 7306 section 6: it takes a receive, and belongs to the write that it follows.
std::optional<Fault> Responder::on_immediate(const transport::Message& message) {
  if (!receives_.has_receive()) return lack_receive(0);
  const bool follows_write = write_end_ == acks_.carried_out();
  acks_.count();
  receives_.complete_oldest(
      CompletionStatus::kSuccess, follows_write ? written_ : 0, message.opcode == Opcode::kImmediateSolicited,
      follows_write ? hca::CompletionOpcode::kRecvWriteImmediate : hca::CompletionOpcode::kRecvImmediate,
      static_cast<std::uint32_t>(message.operand));
  return std::nullopt;
}

void Responder::on_asked_again() {
  has_asked_again_ = true;
  receives_.sate();
}

bool Responder::on_resent(std::uint64_t number) {
  // The peer may go back only after it was asked to, and exactly to the first request that was dropped.
  if (!is_dropping_ || !has_asked_again_ || number != acks_.carried_out()) return false;
  is_dropping_ = has_asked_again_ = false;
  return true;
}

}  // namespace softdat::simnic
