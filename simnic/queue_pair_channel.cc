// SPDX-License-Identifier: BSD-2-Clause
// What the channel says, and what it is given to send. Channel calls made from within one of its
// own calls are terminate() and close() only; sending waits for the end of the section.
#include "simnic/engine.h"
#include "simnic/lock_places.h"
#include "simnic/queue_pair.h"

namespace softdat::simnic {

using hca::QueuePairState;
using transport::NoteKind;
using transport::Opcode;
using transport::Placement;
using transport::SendResult;

bool QueuePair::is_open() const {
  return channel_ && (state() == QueuePairState::kConnected || state() == QueuePairState::kDisconnecting);
}

bool QueuePair::takes_notes() const {
  return channel_ && (channel_->features() & transport::kNotes) != 0;
}

Placement QueuePair::place(const transport::Arrival& arrival, transport::SliceList& out) {
  base::require_lock(locks::kBaton);
  const Entry entry(*this);
  if (!is_open()) return Placement::kDiscard;
  const bool is_response = arrival.opcode == Opcode::kReadResponse;
  const Verdict verdict = is_response ? requester_.place(arrival, out) : responder_.place(arrival, out);
  if (verdict) return is_response || obeys_recv_limits() ? verdict.value() : Placement::kDiscard;
  if (is_response) {
    terminate(verdict.reason());
  } else {
    object(verdict.reason());
  }
  return Placement::kDiscard;
}

void QueuePair::on_fault(const transport::Arrival& arrival) {
  base::require_lock(locks::kBaton);
  const Entry entry(*this);
  if (!is_open()) return;
  if (arrival.opcode == Opcode::kReadResponse) return terminate(local_fault());
  if (const auto fault = responder_.on_fault(arrival)) object(*fault);
}

void QueuePair::on_message(const transport::Message& message) {
  base::require_lock(locks::kBaton);
  const Entry entry(*this);
  if (!is_open()) return;
  if (message.opcode == Opcode::kNote) return on_note(message);
  if (message.opcode == Opcode::kReadResponse || message.opcode == Opcode::kAtomicResponse) {
    if (const auto fault = requester_.on_response(message)) return terminate(*fault);
    nic_.engine.run_at_end(*this);
    return;
  }
  if (const auto fault = responder_.on_request(message)) return object(*fault);
  if (responder_.has_responses()) nic_.engine.run_at_end(*this);
  nic_.engine.run_next_turn(*this);
}

// place() and on_message() in one, of what is usual, and of one piece. What an ack brings about closes nothing.
[[gnu::flatten]] bool QueuePair::on_short_send(const transport::ShortSend& short_send) {
  const Lane::Hold lane(lane_);
  if (!is_plain_ || !responder_.may_take(short_send)) return false;
  if (short_send.acked) {
    if (!requester_.on_ack(*short_send.acked, false)) return false;
    if (requester_.has_more()) nic_.engine.run_at_end(*this);
  }
  if (!responder_.take(short_send)) return false;
  if (responder_.owes_many_acks()) nic_.engine.run_at_end(*this);
  nic_.engine.run_next_turn(*this);
  return true;
}

std::uint64_t QueuePair::receive_length() {
  const Entry entry(*this);
  return is_open() ? responder_.receive_length() : 0;
}

void QueuePair::on_note(const transport::Message& message) {
  base::require_lock(locks::kBaton);
  bool is_sound = takes_notes();
  switch (message.note) {
    case NoteKind::kAck:
      is_sound = is_sound && requester_.on_ack(message.note_value, is_request_half_sent());
      break;
    case NoteKind::kResend:
      if (is_cut_off_) return terminate(local_fault(), requester_.current());
      is_sound = is_sound && requester_.on_resend(message.note_value, is_request_half_sent());
      break;
    case NoteKind::kResent:
      is_sound = is_sound && responder_.on_resent(message.note_value);
      break;
    case NoteKind::kWords:
      return on_words(message.note_value);
    case NoteKind::kLacking:
      return on_peer_lacking(message.note_value);
    case NoteKind::kBye:
      return;  // the carrier's; on_closed() follows
  }
  if (!is_sound) return terminate({.code = kUnexpectedOpcode, .is_protocol_breach = true});
  if (requester_.is_waiting()) nic_.engine.run_at_end(*this);
}

void QueuePair::on_writable() {
  base::require_lock(locks::kBaton);
  const Entry entry(*this);
  is_blocked_ = is_cut_off_;
  nic_.engine.run_at_end(*this);
}

// A request of the peer's cannot be carried out. It hears of that after the answers and acks that
// it is owed, so that it knows which one we mean.
void QueuePair::object(const Fault& fault) {
  base::require_lock(locks::kBaton);
  if (objection_) return;
  if (fault.is_protocol_breach || !takes_notes()) return terminate(fault);
  responder_.ignore_requests();
  objection_ = fault;
  nic_.engine.run_at_end(*this);
}

void QueuePair::terminate(const Fault& fault, std::optional<std::uint64_t> culprit) {
  base::require_lock(locks::kBaton);
  if (!is_open()) return;
  const Fault blame = fault;  // may be the objection, which dies in end()
  channel_->terminate(blame.code);
  end(QueuePairEvent::kFail, blame, hca::ConnectionEventType::kBroken, {}, culprit);
}

void QueuePair::pump() {
  bool has_sent = false;
  while (is_open() && !is_blocked_) {
    if (is_plain_ && send_short()) {
      if (requester_.is_waiting() || responder_.is_waiting()) continue;
      break;
    }
    if (outgoing_ == Outgoing::kNothing ? !choose_outgoing() : !may_resume()) break;
    has_sent = true;
    give_to_channel();
    is_plain_ = false;  // until the end of this Entry
  }
  if (has_sent && channel_) channel_->flush();
}

void QueuePair::give_to_channel() {
  base::require_lock(locks::kBaton);
  switch (channel_->send(message_, outgoing_payload())) {
    case SendResult::kDone:
      return on_outgoing_taken();
    case SendResult::kBlocked:
    case SendResult::kClosed:  // on_closed() tells
      is_blocked_ = true;
      return;
    case SendResult::kFault:
      return on_payload_fault();
    case SendResult::kFaultMidway:
      return on_fault_midway();
  }
}

// The channel takes nothing more. A peer that has the beginning of an answer knows which of its requests has failed; of
// ours, those before may still be acknowledged.
void QueuePair::on_fault_midway() {
  if (outgoing_ != Outgoing::kRequest) return terminate({.code = read_refusal(AccessError::kBadKey)});
  requester_.stall();
  is_blocked_ = is_cut_off_ = true;
}

// No byte of the message has been sent, so earlier requests are finished first.
void QueuePair::on_payload_fault() {
  if (std::exchange(outgoing_, Outgoing::kNothing) == Outgoing::kRequest) return requester_.stall();
  responder_.note_response_failure();
  responder_.drop_reads();
  object({.code = read_refusal(AccessError::kBadKey)});
}

// Posters may send from now on.
void QueuePair::take_short_sends() {
  takes_short_sends_ = channel_->takes_short_sends();
  if (takes_short_sends_) nic_.engine.list_lane(lane_);
}

void QueuePair::end_short_sends() {
  const Entry entry(*this);
  if (std::exchange(takes_short_sends_, false)) nic_.engine.strike_lane(lane_);
}

// Sends the next request if it is a short send. REQUIRES: the lane, and is_plain_; not the baton. False: nothing was
// sent, and choose_outgoing() decides what goes next.
bool QueuePair::send_short() {
  transport::ShortSend short_send;
  if (!requester_.next_short_send(short_send)) return false;
  short_send.acked = responder_.unacknowledged();
  if (!channel_->send_short(short_send)) return false;
  if (short_send.acked) responder_.on_acknowledged(*short_send.acked);
  was_response_ = false;
  requester_.on_brief_taken();
  return true;
}

bool QueuePair::choose_note(Outgoing kind, NoteKind note, std::uint64_t value) {
  outgoing_ = kind;
  message_.begin(Opcode::kNote, 0);
  message_.note = note;
  message_.note_value = value;
  return true;
}

// Responses and requests take turns; an ack rides before a request, or goes alone when nothing else
// does. A response makes it superfluous.
bool QueuePair::choose_outgoing() {
  const bool owes = responder_.is_waiting();
  if (owes || requester_.rewound_to()) {
    if (choose_owed()) return true;
  }
  if (!objection_ && requester_.next(message_)) {
    outgoing_ = Outgoing::kRequest;
    return true;
  }
  return owes && choose_response();
}

// What goes before the next request.
bool QueuePair::choose_owed() {
  if (responder_.is_waiting_for_receive()) [[unlikely]]
    watch_for_receive();
  if (const auto from = responder_.wanted_again()) return choose_note(Outgoing::kResend, NoteKind::kResend, *from);
  if (const auto from = requester_.rewound_to()) return choose_note(Outgoing::kResent, NoteKind::kResent, *from);
  if (!was_response_ && choose_response()) return true;
  const auto count = responder_.unacknowledged();
  return count && choose_note(Outgoing::kAck, NoteKind::kAck, *count);
}

bool QueuePair::choose_response() {
  if (!responder_.has_responses()) return false;
  const AccessError fault = responder_.check_payload();
  if (fault == AccessError::kNone) {
    outgoing_ = Outgoing::kResponse;
    message_ = responder_.next();
    return true;
  }
  // The key has been revoked since the request came. Those behind it cannot be answered before it.
  responder_.note_response_failure();
  responder_.drop_reads();
  object({.code = read_refusal(fault)});
  return false;
}

// A message half in the channel must go on; if its memory has been taken away meanwhile, only the
// connection's end is left.
bool QueuePair::may_resume() {
  if (outgoing_ == Outgoing::kRequest && !requester_.is_payload_valid()) {
    terminate(local_fault(), requester_.current());
    return false;
  }
  if (outgoing_ != Outgoing::kResponse) return true;
  const AccessError fault = responder_.check_payload();
  if (fault == AccessError::kNone) return true;
  responder_.note_response_failure();
  terminate({.code = read_refusal(fault)});
  return false;
}

transport::PayloadSource* QueuePair::outgoing_payload() {
  if (outgoing_ == Outgoing::kRequest) return &requester_;
  return outgoing_ == Outgoing::kResponse ? &responder_ : nullptr;
}

void QueuePair::on_outgoing_taken() {
  switch (std::exchange(outgoing_, Outgoing::kNothing)) {
    case Outgoing::kNothing:
      return;
    case Outgoing::kAck:
      nic_.engine.forgo_next_turn(*this);  // there was nothing else to put off
      return responder_.on_acknowledged(message_.note_value);
    case Outgoing::kResend:
      return responder_.on_asked_again();
    case Outgoing::kResent:
      return requester_.on_rewind_announced();
    case Outgoing::kRequest:
      was_response_ = false;
      return requester_.on_taken();
    case Outgoing::kResponse:
      was_response_ = true;
      return responder_.on_taken();
  }
}

// Whether nothing is to be done but to send requests, to take the peer's, and to acknowledge.
bool QueuePair::is_plain_now() const {
  if (!takes_short_sends_ || state() != QueuePairState::kConnected) return false;
  const bool is_sending = outgoing_ != Outgoing::kNothing || is_blocked_;
  return !is_sending && !objection_ && !recv_limits_.is_set() && requester_.is_plain() && responder_.is_plain();
}

// What can be concluded once nothing more can be sent.
void QueuePair::settle() {
  if (!is_open()) return;
  const bool is_send_lost = requester_.take_loss();
  const bool is_recv_lost = responder_.take_loss();
  if (is_send_lost || is_recv_lost) lose_completion();
  if (requester_.is_stalled()) {
    const auto fault = requester_.find_fault();
    if (fault && is_cut_off_) return terminate(*fault);
    if (fault) object(*fault);
  }
  if (is_blocked_ || outgoing_ != Outgoing::kNothing) return;
  if (objection_ && !responder_.has_responses() && !responder_.unacknowledged()) {
    tell_peer_why();
    return terminate(*objection_);
  }
  if (is_drained()) end(QueuePairEvent::kDrained, {}, hca::ConnectionEventType::kDisconnected);
}

void QueuePair::lose_completion() {
  has_lost_completion_ = true;
  object({.code = kLocalCatastrophe});
}

bool QueuePair::is_drained() const {
  return state() == QueuePairState::kDisconnecting && requester_.is_drained() &&
         responder_.reads_answered() >= reads_to_answer_;
}

}  // namespace softdat::simnic
