// SPDX-License-Identifier: BSD-2-Clause
// What a queue pair receives.
#include <algorithm>
#include <utility>

#include "simnic/fault.h"
#include "simnic/fault/faulty_channel.h"
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
Placement FaultyChannel::place(const Arrival& arrival, transport::SliceList& out) {
  if (is_over_) return Placement::kDiscard;
  if (arrival.opcode == Opcode::kReadResponse) return sink_.place(arrival, out);
  if (is_dropping_) return Placement::kDiscard;
  const Placement placement = sink_.place(arrival, out);
  if (placement == Placement::kDiscard || is_over_ || !is_send(arrival.opcode) || !arrival.first) return placement;
  if (refusals_ > 0) return find_no_receive();
  if (arrivals_ < decided_arrivals_) return placement;
  decided_arrivals_ = arrivals_ + 1;
  return decide_arrival(arrival);
}

// The length of the message is not known: where its first piece ends is up to the carrier, and to time.
Placement FaultyChannel::decide_arrival(const Arrival& arrival) {
  if (cut_) return Placement::kPlace;
  FaultyQueuePair* const qp = queue_pair();
  const Point point{.stage = base::FaultStage::kArrival,
                    .op = base::FaultOp::kRecv,
                    .endpoint = endpoint_,
                    .connection = connection_,
                    .number = ++received_,
                    .peer = peer_,
                    .has_srq = qp != nullptr && qp->has_srq()};
  for (const base::FaultRule* rule : carrier_.injector().decide(point, received_counts_)) {
    carrier_.injector().note(*rule, point);
    switch (rule->kind) {
      case FaultKind::kFailReceive:
        return fail_receive(*rule, arrival);
      case FaultKind::kReceiverNotReady:
      case FaultKind::kDrySrq:
        refusals_ = rule->count;
        refusal_delay_ = to_duration(rule->ms.value_or(0));
        return find_no_receive();
      case FaultKind::kOverflowEvd:
        overflow_at_ = arrivals_;
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
Placement FaultyChannel::fail_receive(const base::FaultRule& rule, const Arrival& arrival) {
  if (rule.word == "protection") {
    sink_.on_fault(arrival);
    return Placement::kDiscard;
  }
  Arrival longer = arrival;
  longer.message_offset = std::uint64_t{1} << 62;
  transport::SliceList ignored;
  return sink_.place(longer, ignored);
}

// As the responder does when it has no receive.
Placement FaultyChannel::find_no_receive() {
  --refusals_;
  if (!takes_notes() || carrier_.rnr() == RnrPolicy::kTerminate) {
    refusals_ = 0;
    is_torn_ = true;
    is_over_ = true;
    end_code_ = kNoBuffer;
    // The peer is to know which of its requests is meant.
    const Message ack{.opcode = Opcode::kNote, .note = NoteKind::kAck, .note_value = arrivals_};
    if (takes_notes() && !is_midway_) static_cast<void>(inner_->send(ack, nullptr));
    inner_->terminate(kNoBuffer);
    carrier_.set(end_alarm_, base::Duration::zero());
    return Placement::kDiscard;
  }
  is_dropping_ = true;
  carrier_.set(ask_alarm_, refusal_delay_);
  return Placement::kDiscard;
}

void FaultyChannel::ask_again() {
  if (is_over_) return;
  own_note_ = Message{.opcode = Opcode::kNote, .note = NoteKind::kResend, .note_value = arrivals_};
  if (!is_midway_ && !is_held_) static_cast<void>(push_own_note());
}

// REQUIRES: a border of messages. False: the channel is full; on_writable() tries again.
bool FaultyChannel::push_own_note() {
  switch (inner_->send(*own_note_, nullptr)) {
    case transport::SendResult::kDone:
      own_note_.reset();
      inner_->flush();
      return true;
    default:
      return false;
  }
}

void FaultyChannel::on_fault(const Arrival& arrival) {
  if (!is_over_) sink_.on_fault(arrival);
}

void FaultyChannel::on_message(const Message& message) {
  if (is_over_) return;
  if (message.opcode == Opcode::kReadResponse || message.opcode == Opcode::kAtomicResponse) return on_response(message);
  if (message.opcode != Opcode::kNote) return on_request_message(message);
  if (message.note == NoteKind::kAck) return on_ack(message);
  if (message.note == NoteKind::kResent) {
    const bool is_ours = is_dropping_ && message.note_value == arrivals_;
    arrivals_ = message.note_value;
    if (std::exchange(is_dropping_, false) && is_ours) return;
  }
  sink_.on_message(message);
}

void FaultyChannel::on_request_message(const Message& message) {
  if (is_dropping_) return;
  const std::uint64_t number = arrivals_++;
  FaultyQueuePair* const qp = queue_pair();
  if (overflow_at_ == number && qp != nullptr) return qp->lose_completion();
  sink_.on_message(message);
  if (std::exchange(wakes_, false) && qp != nullptr) qp->wake_spuriously();
}

void FaultyChannel::on_response(const Message& message) {
  const std::uint64_t count = reads_.empty() ? acknowledged_ : reads_.front() + 1;
  if (!reads_.empty()) reads_.pop_front();
  sink_.on_message(message);
  note_acknowledged(count);
}

// An acknowledgement that covers a message with a late completion waits; later ones join it.
void FaultyChannel::on_ack(const Message& message) {
  if (late_ack_) {
    late_ack_ = std::max(*late_ack_, message.note_value);
    return;
  }
  for (const auto& [number, marks] : marks_) {
    if (!marks.late || number >= message.note_value || number < acknowledged_) continue;
    late_ack_ = message.note_value;
    return carrier_.set(ack_alarm_, *marks.late);
  }
  sink_.on_message(message);
  note_acknowledged(message.note_value);
}

void FaultyChannel::deliver_late_ack() {
  if (is_over_ || !late_ack_) return;
  const std::uint64_t count = *std::exchange(late_ack_, std::nullopt);
  sink_.on_message(Message{.opcode = Opcode::kNote, .note = NoteKind::kAck, .note_value = count});
  note_acknowledged(count);
}

void FaultyChannel::note_acknowledged(std::uint64_t count) {
  acknowledged_ = std::max(acknowledged_, count);
  marks_.erase(marks_.begin(), marks_.lower_bound(acknowledged_));
  check_cut();
}

}  // namespace softdat::simnic::fault
