// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/fault/faulty_receiver.h"

#include <utility>

#include "simnic/fault.h"
#include "simnic/fault/faulty_queue_pair.h"

namespace softdat::simnic::fault {
namespace {

using base::FaultKind;
using transport::Arrival;
using transport::Message;
using transport::NoteKind;
using transport::Opcode;
using transport::Placement;

bool is_send(Opcode opcode) {
  return opcode >= Opcode::kSend && opcode <= Opcode::kSendSolicitedInvalidate;
}

}  // namespace

// The queue pair is asked first: a message that finds no receive anyway comes again, and is decided on then.
Placement FaultyReceiver::place(const Arrival& arrival, transport::SliceList& out) {
  if (is_dropping_) return Placement::kDiscard;
  const Placement placement = connection_.sink().place(arrival, out);
  if (placement == Placement::kDiscard || end_.is_over() || !is_send(arrival.opcode) || !arrival.first) {
    return placement;
  }
  if (refusals_ > 0) return find_no_receive();
  // A message that is sent again has had its decision.
  if (next_ < decided_) return placement;
  decided_ = next_ + 1;
  return decide(arrival);
}

// The length of the message is not known: where its first piece ends is up to the carrier, and to time.
Placement FaultyReceiver::decide(const Arrival& arrival) {
  if (end_.planned()) return Placement::kPlace;
  Point point = connection_.point(base::FaultStage::kArrival, base::FaultOp::kRecv, ++received_);
  const FaultyQueuePair* const qp = connection_.queue_pair();
  point.has_srq = qp != nullptr && qp->has_srq();
  const Injector& injector = connection_.carrier().injector();
  for (const base::FaultRule* rule : injector.decide(point, counts_)) {
    injector.note(*rule, point);
    switch (rule->kind) {
      case FaultKind::kFailReceive:
        return fail_receive(*rule, arrival);
      case FaultKind::kReceiverNotReady:
      case FaultKind::kDrySrq:
        refusals_ = rule->count;
        refusal_delay_ = to_duration(rule->ms.value_or(0));
        return find_no_receive();
      case FaultKind::kOverflowEvd:
        overflow_at_ = next_;
        break;
      case FaultKind::kSpuriousWake:
        wakes_ = true;
        break;
      default:
        break;
    }
  }
  return Placement::kPlace;
}

// The queue pair hears of a receive buffer that faults, or of a message that is too long for it.
Placement FaultyReceiver::fail_receive(const base::FaultRule& rule, const Arrival& arrival) {
  if (rule.word == "protection") {
    connection_.sink().on_fault(arrival);
    return Placement::kDiscard;
  }
  Arrival longer = arrival;
  // Beyond every receive: the queue pair refuses it as too long by its own rules.
  longer.message_offset = std::uint64_t{1} << 62;
  transport::SliceList ignored;
  return connection_.sink().place(longer, ignored);
}

// Acts as the responder does without a receive.
Placement FaultyReceiver::find_no_receive() {
  --refusals_;
  if (!connection_.takes_notes() || connection_.carrier().rnr() == RnrPolicy::kTerminate) {
    refusals_ = 0;
    end_.end_told_later(kNoBuffer);
    // The peer is to know which of its requests is meant.
    const Message ack{.opcode = Opcode::kNote, .note = NoteKind::kAck, .note_value = next_};
    transport::Channel& inner = *connection_.inner();
    if (connection_.takes_notes() && !outlet_.is_midway()) static_cast<void>(inner.send(ack, nullptr));
    inner.terminate(kNoBuffer);
    return Placement::kDiscard;
  }
  is_dropping_ = true;
  connection_.carrier().set(ask_alarm_, refusal_delay_);
  return Placement::kDiscard;
}

void FaultyReceiver::ask_again() {
  if (end_.is_over()) return;
  outlet_.put_note({.opcode = Opcode::kNote, .note = NoteKind::kResend, .note_value = next_});
}

// Counts whole messages, as the responder does, so that resend notes name the right one.
void FaultyReceiver::on_message(const Message& message) {
  if (is_dropping_) return;
  const std::uint64_t number = next_++;
  FaultyQueuePair* const qp = connection_.queue_pair();
  if (overflow_at_ == number && qp != nullptr) return qp->lose_completion();
  connection_.sink().on_message(message);
  if (std::exchange(wakes_, false) && qp != nullptr) qp->wake_spuriously();
}

// False: the repetition is the queue pair's own, which must hear of it.
bool FaultyReceiver::on_resent(std::uint64_t number) {
  const bool is_ours = number == next_;
  next_ = number;
  return std::exchange(is_dropping_, false) && is_ours;
}

}  // namespace softdat::simnic::fault
