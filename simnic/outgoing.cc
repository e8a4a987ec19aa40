// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/outgoing.h"

#include <utility>

namespace softdat::simnic {

using transport::NoteKind;

transport::PayloadSource* Outgoing::payload() {
  if (kind_ == Kind::kRequest) return &requester_;
  return kind_ == Kind::kResponse ? &responder_.reads() : nullptr;
}

// Order: notes of a repetition, a response if a request went last, an ack, the next request, and then a response. So
// neither side's requests starve the other's.
bool Outgoing::choose() {
  const bool owes = responder_.is_waiting();
  if (owes || requester_.sent().rewound_to()) {
    if (choose_owed()) return true;
    if (has_refused()) return false;
  }
  if (!objection_ && requester_.next(message_)) {
    kind_ = Kind::kRequest;
    return true;
  }
  return owes && choose_response();
}

// Chooses a note or response that goes before the next request.
bool Outgoing::choose_owed() {
  if (const auto from = responder_.wanted_again()) return choose_note(Kind::kResend, NoteKind::kResend, *from);
  if (const auto from = requester_.sent().rewound_to()) return choose_note(Kind::kResent, NoteKind::kResent, *from);
  if (!was_response_ && choose_response()) return true;
  if (has_refused()) return false;
  const auto count = responder_.acks().unacknowledged();
  return count && choose_note(Kind::kAck, NoteKind::kAck, *count);
}

// The key may have been revoked since the request came. Those behind it cannot be answered before it.
bool Outgoing::choose_response() {
  if (responder_.reads().is_empty()) return false;
  refusal_ = responder_.reads().check_payload();
  if (!has_refused()) {
    kind_ = Kind::kResponse;
    message_ = responder_.reads().next();
    return true;
  }
  responder_.reads().drop_all();
  return false;
}

bool Outgoing::choose_note(Kind kind, NoteKind note, std::uint64_t value) {
  kind_ = kind;
  message_.begin(transport::Opcode::kNote, 0);
  message_.note = note;
  message_.note_value = value;
  return true;
}

AccessError Outgoing::check_memory() const {
  if (kind_ == Kind::kRequest && !requester_.is_payload_valid()) return AccessError::kBadKey;
  return kind_ == Kind::kResponse ? responder_.reads().check_payload() : AccessError::kNone;
}

Outgoing::Given Outgoing::give(transport::Channel& channel) {
  switch (channel.send(message_, payload())) {
    case transport::SendResult::kDone:
      take();
      return Given::kTaken;
    case transport::SendResult::kFault:
      return on_fault();
    case transport::SendResult::kFaultMidway:
      return on_fault_midway();
    case transport::SendResult::kBlocked:
    case transport::SendResult::kClosed:  // on_closed() tells
      break;
  }
  is_blocked_ = true;
  return Given::kWaits;
}

// The channel has the whole message. Only now its effect is noted, because a blocked message comes again.
void Outgoing::take() {
  switch (std::exchange(kind_, Kind::kNothing)) {
    case Kind::kNothing:
      return;
    case Kind::kAck:
      return responder_.acks().on_acknowledged(message_.note_value);
    case Kind::kResend:
      return responder_.on_asked_again();
    case Kind::kResent:
      return requester_.sent().on_rewind_announced();
    case Kind::kRequest:
      was_response_ = false;
      return requester_.sent().on_taken();
    case Kind::kResponse:
      was_response_ = true;
      return responder_.reads().on_taken();
  }
}

// No byte of the message has been sent, so earlier requests are finished first.
Outgoing::Given Outgoing::on_fault() {
  if (std::exchange(kind_, Kind::kNothing) == Kind::kRequest) {
    requester_.stall();
    return Given::kWaits;
  }
  responder_.reads().drop_all();
  return Given::kRefused;
}

// The channel takes nothing more. A peer that has the beginning of an answer knows which of its requests has failed; of
// ours, those before may still be acknowledged.
Outgoing::Given Outgoing::on_fault_midway() {
  if (kind_ != Kind::kRequest) return Given::kBroken;
  requester_.stall();
  is_blocked_ = is_cut_off_ = true;
  return Given::kWaits;
}

}  // namespace softdat::simnic
