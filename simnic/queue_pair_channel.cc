// SPDX-License-Identifier: BSD-2-Clause
// What the channel says, and what it is given to send. Channel calls made from within one of its
// own calls are terminate() and close() only; sending waits for the end of the section.
#include "simnic/engine.h"
#include "simnic/lock_places.h"
#include "simnic/queue_pair.h"
#include "simnic/read_response.h"

namespace softdat::simnic {

using hca::QueuePairState;
using transport::NoteKind;
using transport::Opcode;
using transport::Placement;

bool QueuePair::takes_notes() const {
  return channel_ && (channel_->features() & transport::kNotes) != 0;
}

Placement QueuePair::place(const transport::Arrival& arrival, transport::SliceList& out) {
  base::require_lock(locks::kBaton);
  const Entry entry(*this);
  if (!is_open()) return Placement::kDiscard;
  const bool is_response = arrival.opcode == Opcode::kReadResponse;
  const Verdict verdict =
      is_response ? place_response(requester_.sent(), memory_, arrival, out) : responder_.place(arrival, out);
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
    if (const auto fault = take_response(requester_.sent(), memory_, message)) return terminate(*fault);
    nic_.engine.run_at_end(*this);
    return;
  }
  if (const auto fault = responder_.on_request(message)) return object(*fault);
  if (!responder_.reads().is_empty()) nic_.engine.run_at_end(*this);
  nic_.engine.run_next_turn(*this);
}

// place() and on_message() in one, of what is usual, and of one piece. What an ack brings about closes nothing.
[[gnu::flatten]] bool QueuePair::on_short_send(const transport::ShortSend& short_send) {
  const Lane::Hold lane(lane_);
  if (!is_plain_ || !responder_.receives().may_take(short_send)) return false;
  if (short_send.acked) {
    if (!requester_.sent().on_ack(*short_send.acked, false)) return false;
    if (requester_.has_more()) nic_.engine.run_at_end(*this);
  }
  if (!responder_.take(short_send)) return false;
  if (responder_.acks().are_many()) nic_.engine.run_at_end(*this);
  nic_.engine.run_next_turn(*this);
  return true;
}

std::uint64_t QueuePair::receive_length() {
  const Entry entry(*this);
  return is_open() ? responder_.receives().oldest_length() : 0;
}

void QueuePair::on_note(const transport::Message& message) {
  base::require_lock(locks::kBaton);
  bool is_sound = takes_notes();
  switch (message.note) {
    case NoteKind::kAck:
      is_sound = is_sound && requester_.sent().on_ack(message.note_value, outgoing_.is_request());
      break;
    case NoteKind::kResend:
      if (outgoing_.is_cut_off()) return terminate(local_fault(), requester_.sent().current());
      is_sound = is_sound && requester_.on_resend(message.note_value, outgoing_.is_request());
      break;
    case NoteKind::kResent:
      is_sound = is_sound && responder_.on_resent(message.note_value);
      break;
    case NoteKind::kWords:
      return failure_.note_words(message.note_value);
    case NoteKind::kLacking:
      report(failure_.lacks_at_peer(message.note_value));
      return;
    case NoteKind::kBye:
      return;  // the carrier's; on_closed() follows
  }
  if (!is_sound) return terminate({.code = kUnexpectedOpcode, .is_protocol_breach = true});
  if (requester_.is_waiting()) nic_.engine.run_at_end(*this);
}

void QueuePair::on_writable() {
  base::require_lock(locks::kBaton);
  const Entry entry(*this);
  outgoing_.on_writable();
  nic_.engine.run_at_end(*this);
}

// A request of the peer's cannot be carried out. It hears of that after the answers and acks that
// it is owed, so that it knows which one we mean.
void QueuePair::object(const Fault& fault) {
  base::require_lock(locks::kBaton);
  if (outgoing_.objection()) return;
  if (fault.is_protocol_breach || !takes_notes()) return terminate(fault);
  responder_.ignore_requests();
  outgoing_.object(fault);
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
  if (responder_.is_waiting_for_receive()) [[unlikely]]
    watch_for_receive();
  while (is_open() && !outgoing_.is_blocked()) {
    if (is_plain_ && send_short()) {
      if (requester_.is_waiting() || responder_.is_waiting()) continue;
      break;
    }
    if (outgoing_.is_nothing() ? !outgoing_.choose() : !may_resume()) {
      if (object_to_refusal()) continue;
      break;
    }
    has_sent = true;
    give_to_channel();
    is_plain_ = false;  // until the end of this Entry
  }
  if (has_sent && channel_) channel_->flush();
}

void QueuePair::give_to_channel() {
  base::require_lock(locks::kBaton);
  const bool is_ack = outgoing_.is_ack();
  switch (outgoing_.give(*channel_)) {
    case Outgoing::Given::kTaken:
      if (is_ack) nic_.engine.forgo_next_turn(*this);  // there was nothing else to put off
      return;
    case Outgoing::Given::kWaits:
      return;
    case Outgoing::Given::kRefused:
      return object({.code = read_refusal(AccessError::kBadKey)});
    case Outgoing::Given::kBroken:
      return terminate({.code = read_refusal(AccessError::kBadKey)});
  }
}

// Tells the peer that its oldest read cannot be answered any more. False: no response was refused.
bool QueuePair::object_to_refusal() {
  if (!outgoing_.has_refused()) return false;
  object({.code = read_refusal(outgoing_.take_refusal())});
  return true;
}

// A message half in the channel must go on; if its memory has been taken away meanwhile, only the
// connection's end is left.
bool QueuePair::may_resume() {
  const AccessError fault = outgoing_.check_memory();
  if (fault == AccessError::kNone) return true;
  if (outgoing_.is_request()) {
    terminate(local_fault(), requester_.sent().current());
  } else {
    responder_.reads().note_failure();
    terminate({.code = read_refusal(fault)});
  }
  return false;
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
  short_send.acked = responder_.acks().unacknowledged();
  if (!channel_->send_short(short_send)) return false;
  if (short_send.acked) responder_.acks().on_acknowledged(*short_send.acked);
  outgoing_.note_request();
  requester_.sent().on_short_send_taken();
  return true;
}

// Whether nothing is to be done but to send requests, to take the peer's, and to acknowledge.
bool QueuePair::is_plain_now() const {
  if (!takes_short_sends_ || state() != QueuePairState::kConnected) return false;
  return outgoing_.is_free() && !outgoing_.objection() && !recv_limits_.is_set() && requester_.is_plain() &&
         responder_.is_plain();
}

// What can be concluded once nothing more can be sent.
void QueuePair::settle() {
  if (!is_open()) return;
  const bool is_send_lost = requester_.completions().feed().take_loss();
  const bool is_recv_lost = responder_.receives().feed().take_loss();
  if (is_send_lost || is_recv_lost) lose_completion();
  if (requester_.is_stalled()) {
    const auto fault = requester_.find_fault();
    if (fault && outgoing_.is_cut_off()) return terminate(*fault);
    if (fault) object(*fault);
  }
  if (!outgoing_.is_free()) return;
  if (outgoing_.objection() && responder_.reads().is_empty() && !responder_.acks().unacknowledged()) {
    tell_peer_why();
    return terminate(*outgoing_.objection());
  }
  if (is_drained()) end(QueuePairEvent::kDrained, {}, hca::ConnectionEventType::kDisconnected);
}

void QueuePair::lose_completion() {
  failure_.note_lost_completion();
  object({.code = kLocalCatastrophe});
}

bool QueuePair::is_drained() const {
  return state() == QueuePairState::kDisconnecting && requester_.is_drained() &&
         responder_.reads().answered() >= reads_to_answer_;
}

}  // namespace softdat::simnic
