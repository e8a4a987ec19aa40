// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/reliable_connection.h"

#include <utility>

#include "simnic/engine.h"
#include "simnic/read_response.h"

namespace softdat::simnic {

using hca::QueuePairState;
using transport::NoteKind;
using transport::Opcode;
using transport::Placement;

ReliableConnection::ReliableConnection(const QueuePairView& queue_pair, const hca::QueuePairConfig& config)
    : ConnectionLifecycle(queue_pair, config) {
  if (queue_pair.recvs.shared() == nullptr) return;
  const Engine::Hold hold(engine_);
  queue_pair.recvs.shared()->join();
}

void ReliableConnection::leave_engine() {
  // Called by the destructor of the most derived class, and again by the base's.
  if (std::exchange(has_left_, true)) return;
  {
    const Engine::Hold hold(engine_);
    const MessagePath::Entry entry(path_);
    abandon();
    path_.requester().completions().discard();
    path_.responder().receives().discard();
    if (auto* const shared = queue_pair_.recvs.shared()) shared->leave(*this);
    engine_.forget(*this);
  }
  // Without the baton, because it waits for a sink call of this object that is running.
  upcalls_.forget();
}

// Rung by a post, or due by the end of a turn.
void ReliableConnection::run_with_baton() {
  base::require_lock(locks::kBaton);
  const MessagePath::Entry entry(path_);
  if (path_.is_plain() && !path_.is_waiting()) return;
  // A channel over TCP makes system calls that are cancellation points.
  if (!path_.takes_posters()) engine_.stay();
  obeys_recv_limits();
  if (path_.is_open()) {
    pump();
    settle();
  } else if (state() == QueuePairState::kError) {
    path_.flush();
  }
}

// Sends until the channel is full or nothing is left. A fault of one response may leave others to be sent.
void ReliableConnection::pump() {
  if (path_.responder().is_waiting_for_receive() && failure_.watch_for_receive()) [[unlikely]]
    engine_.timers().set(*this, base::deadline_after(engine_.now(), FailureReport::kLackWorthTelling));
  while (const auto fault = path_.pump()) {
    if (fault->is_final) {
      terminate(fault->fault, fault->culprit);
    } else {
      object(fault->fault);
    }
  }
}

// Called for each piece, before the carrier copies it. The slices are used at once and not kept, so a revocation need
// only wait for the baton.
Placement ReliableConnection::place(const transport::Arrival& arrival, transport::SliceList& out) {
  base::require_lock(locks::kBaton);
  const MessagePath::Entry entry(path_);
  if (!path_.is_open()) return Placement::kDiscard;
  const bool is_response = arrival.opcode == Opcode::kReadResponse;
  const Verdict verdict = is_response ? place_response(path_.requester().sent(), queue_pair_.memory, arrival, out)
                                      : path_.responder().place(arrival, out);
  if (verdict) return is_response || obeys_recv_limits() ? verdict.value() : Placement::kDiscard;
  if (is_response) {
    terminate(verdict.reason());
  } else {
    object(verdict.reason());
  }
  return Placement::kDiscard;
}

// The memory that place() named faults: the program has unmapped or protected it (decision 16).
void ReliableConnection::on_fault(const transport::Arrival& arrival) {
  base::require_lock(locks::kBaton);
  const MessagePath::Entry entry(path_);
  if (!path_.is_open()) return;
  if (arrival.opcode == Opcode::kReadResponse) return terminate(local_fault());
  if (const auto fault = path_.responder().on_fault(arrival)) object(*fault);
}

void ReliableConnection::on_message(const transport::Message& message) {
  base::require_lock(locks::kBaton);
  const MessagePath::Entry entry(path_);
  if (!path_.is_open()) return;
  if (message.opcode == Opcode::kNote) return on_note(message);
  if (message.opcode == Opcode::kReadResponse || message.opcode == Opcode::kAtomicResponse) {
    if (const auto fault = take_response(path_.requester().sent(), queue_pair_.memory, message))
      return terminate(*fault);
    engine_.run_at_end(*this);
    return;
  }
  if (const auto fault = path_.responder().on_request(message)) return object(*fault);
  if (!path_.responder().reads().is_empty()) engine_.run_at_end(*this);
  // The ack is owed. It rides on the next message, or leaves in the next turn.
  engine_.run_next_turn(*this);
}

// Fast path: place() and on_message() for a short send. An ack that it carries never closes the channel here.
[[gnu::flatten]] bool ReliableConnection::on_short_send(const transport::ShortSend& short_send) {
  const Lane::Hold lane(path_.lane());
  Responder& responder = path_.responder();
  if (!path_.is_plain() || !responder.receives().may_take(short_send)) return false;
  if (short_send.acked) {
    if (!path_.requester().sent().on_ack(*short_send.acked, false)) return false;
    if (path_.requester().has_more()) engine_.run_at_end(*this);
  }
  if (!responder.place(short_send)) return false;
  responder.receives().complete_oldest(hca::CompletionStatus::kSuccess,
                                       static_cast<std::uint32_t>(short_send.payload.size()),
                                       short_send.opcode == Opcode::kSendSolicited);
  // Sixteen are owed: the peer's queue must not fill for want of an ack.
  if (responder.acks().are_many()) engine_.run_at_end(*this);
  engine_.run_next_turn(*this);
  return true;
}

// Called by the channel, with the baton, before it leaves its link.
void ReliableConnection::end_short_sends() {
  const MessagePath::Entry entry(path_);
  path_.end_short_sends();
}

std::uint64_t ReliableConnection::receive_length() {
  const MessagePath::Entry entry(path_);
  return path_.is_open() ? path_.responder().receives().oldest_length() : 0;
}

void ReliableConnection::on_note(const transport::Message& message) {
  base::require_lock(locks::kBaton);
  bool is_sound = path_.takes_notes();
  switch (message.note) {
    case NoteKind::kAck:
      is_sound = is_sound && path_.requester().sent().on_ack(message.note_value, path_.outgoing().is_request());
      break;
    case NoteKind::kResend:
      // The request that cannot be finished would have to be sent again, and its memory is gone.
      if (path_.outgoing().is_cut_off()) return terminate(local_fault(), path_.requester().sent().current());
      is_sound = is_sound && path_.requester().on_resend(message.note_value, path_.outgoing().is_request());
      break;
    case NoteKind::kResent:
      is_sound = is_sound && path_.responder().on_resent(message.note_value);
      break;
    case NoteKind::kWords:
      return failure_.note_words(message.note_value);
    case NoteKind::kLacking:
      return failure_.tell_lack_at_peer(message.note_value);
    case NoteKind::kBye:
      return;  // the carrier's; on_closed() follows
  }
  if (!is_sound) return terminate({.code = kUnexpectedOpcode, .is_protocol_breach = true});
  if (path_.requester().is_waiting()) engine_.run_at_end(*this);
}

void ReliableConnection::on_writable() {
  base::require_lock(locks::kBaton);
  const MessagePath::Entry entry(path_);
  path_.outgoing().on_writable();
  engine_.run_at_end(*this);
}

// A request of the peer's cannot be carried out. It hears of that after the answers and acks that
// it is owed, so that it knows which one we mean.
void ReliableConnection::object(const Fault& fault) {
  base::require_lock(locks::kBaton);
  if (path_.outgoing().objection()) return;
  // A foreign peer knows no acks, so waiting for them would tell it nothing more.
  if (fault.is_protocol_breach || !path_.takes_notes()) return terminate(fault);
  path_.responder().ignore_requests();
  path_.outgoing().object(fault);
  engine_.run_at_end(*this);
}

void ReliableConnection::terminate(const Fault& fault, std::optional<std::uint64_t> culprit) {
  base::require_lock(locks::kBaton);
  if (!path_.is_open()) return;
  const Fault blame = fault;  // may be the objection, which dies in end()
  // The Terminate goes out before end() flushes: what the peer hears never depends on our completions.
  path_.channel()->terminate(blame.code);
  end(QueuePairEvent::kFail, blame, hca::ConnectionEventType::kBroken, {}, culprit);
}

// Concludes what can be concluded once nothing more can be sent.
void ReliableConnection::settle() {
  if (!path_.is_open()) return;
  Requester& requester = path_.requester();
  Responder& responder = path_.responder();
  const Outgoing& outgoing = path_.outgoing();
  const bool is_send_lost = requester.completions().feed().take_loss();
  const bool is_recv_lost = responder.receives().feed().take_loss();
  if (is_send_lost || is_recv_lost) lose_completion();
  if (requester.is_stalled()) {
    const auto fault = requester.find_fault();
    if (fault && outgoing.is_cut_off()) return terminate(*fault);
    if (fault) object(*fault);
  }
  if (!outgoing.is_free()) return;
  if (outgoing.objection() && responder.reads().is_empty() && !responder.acks().unacknowledged()) {
    failure_.tell_objection();
    return terminate(*outgoing.objection());
  }
  if (is_drained()) end(QueuePairEvent::kDrained, {}, hca::ConnectionEventType::kDisconnected);
}

void ReliableConnection::lose_completion() {
  failure_.note_lost_completion();
  // The completion queue overflowed. InfiniBand and DAT break the connection then, because results are missing.
  object({.code = kLocalCatastrophe});
}

void ReliableConnection::set_recv_limits(std::uint32_t soft, std::uint32_t hard) {
  const Engine::Hold hold(engine_);
  const MessagePath::Entry entry(path_);
  {
    const std::lock_guard lock(queue_pair_.recvs.mutex());
    queue_pair_.recvs.limits().set(soft, hard);
  }
  obeys_recv_limits();
}

// False when the connection has been broken for it.
bool ReliableConnection::enforce_recv_limits() {
  ReceiveLimits& limits = queue_pair_.recvs.limits();
  const std::uint32_t count = path_.responder().queue().outstanding();
  if (limits.takes_soft(count)) upcalls_.post_recv_limit();
  if (!limits.exceeds_hard(count) || !path_.is_open()) return true;
  terminate({.code = kLocalCatastrophe});
  return false;
}

}  // namespace softdat::simnic
