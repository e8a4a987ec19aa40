// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/fault/faulty_sender.h"

#include <algorithm>
#include <new>
#include <utility>

namespace softdat::simnic::fault {
namespace {

using base::FaultKind;
using base::FaultOp;
using base::FaultRule;
using transport::Message;
using transport::NoteKind;
using transport::Opcode;
using transport::PayloadSource;
using transport::SendResult;

// No key is ever this one.
constexpr std::uint32_t kNobodysKey = 0xffff'fffe;

bool is_immediate(Opcode opcode) {
  return opcode == Opcode::kImmediate || opcode == Opcode::kImmediateSolicited;
}

FaultOp op_of(Opcode opcode) {
  if (opcode == Opcode::kWrite) return FaultOp::kWrite;
  if (opcode == Opcode::kReadRequest) return FaultOp::kRead;
  return opcode == Opcode::kAtomicRequest ? FaultOp::kAtomic : FaultOp::kSend;
}

// Returns the request with a key that the peer refuses.
Message with_bad_key(const Message& message) {
  Message changed = message;
  switch (message.opcode) {
    case Opcode::kWrite:
      changed.stag = kNobodysKey;
      break;
    case Opcode::kReadRequest:
    case Opcode::kAtomicRequest:
      changed.source_stag = kNobodysKey;
      break;
    case Opcode::kSendSolicited:
    case Opcode::kSendSolicitedInvalidate:
      changed.opcode = Opcode::kSendSolicitedInvalidate;
      changed.stag = kNobodysKey;
      break;
    default:
      changed.opcode = Opcode::kSendInvalidate;
      changed.stag = kNobodysKey;
      break;
  }
  return changed;
}

}  // namespace

SendResult FaultySender::send(const Message& message, PayloadSource* payload) {
  const std::uint64_t number = numbers_.next();
  is_withheld_ = false;
  // One decision for each request: a repetition keeps it, and immediate data belongs to its write.
  if (numbers_.is_first_try()) is_immediate(message.opcode) ? keep_with_write() : decide(message);
  if (outlet_.is_held()) return outlet_.block();
  // Requests before the planned end complete first, so the consumer can tell which ones were lost.
  if (end_.planned() && number >= end_.planned()->after && !goes_back_) {
    if (end_.planned()->is_within && is_cut_due()) return give_torn(message, payload);
    is_withheld_ = true;
    return outlet_.block();
  }
  return send_decided(message, payload);
}

SendResult FaultySender::send_decided(const Message& message, PayloadSource* payload) {
  const std::uint64_t number = numbers_.next();
  if (rate_.applies_to(number)) {
    const base::Time now = connection_.carrier().now();
    if (rate_.free_at() > now) {
      outlet_.hold_until(rate_.free_at());
      return outlet_.block();
    }
    rate_.charge(number, transport::payload_length(message), now);
  }
  const SendResult result = give(message, payload);
  if (result != SendResult::kDone) return result;
  numbers_.take(message.opcode);
  // A peer without notes acknowledges nothing, and asks for nothing again.
  if (!connection_.takes_notes()) marks_.erase(number);
  return result;
}

// A request that the planned end withholds goes out after all: the queue pair goes back only then. The peer drops it,
// as all before the repetition, and it comes again.
void FaultySender::on_resend() {
  goes_back_ = true;
  if (std::exchange(is_withheld_, false)) outlet_.on_writable();
}

SendResult FaultySender::give(const Message& message, PayloadSource* payload) {
  const auto found = marks_.find(numbers_.next());
  if (found == marks_.end()) return outlet_.give(message, payload);
  const Marks& marks = found->second;
  const Message changed = marks.is_refused ? with_bad_key(message) : message;
  return marks.damage ? outlet_.give_damaged(changed, payload, *marks.damage) : outlet_.give(changed, payload);
}

SendResult FaultySender::give_torn(const Message& message, PayloadSource* payload) {
  end_.end_told_later(std::nullopt);
  if (!connection_.inner()->cut_within(message, payload)) connection_.inner()->cut();
  return SendResult::kClosed;
}

// Without memory the message goes as it is.
void FaultySender::decide(const Message& message) try {
  Point point = connection_.point(base::FaultStage::kMessage, op_of(message.opcode), ++decisions_);
  point.size = message.length;  // a read's is that of the answer
  for (const FaultRule* rule : connection_.carrier().injector().decide(point, counts_)) carry_out(*rule, point);
} catch (const std::bad_alloc&) {
  return;
}

// An end after a write is one after its immediate data, which is about to be sent.
void FaultySender::keep_with_write() {
  if (!end_.planned() || end_.planned()->after != numbers_.next()) return;
  Cut later = *end_.planned();
  ++later.after;
  end_.plan(later);
}

void FaultySender::carry_out(const FaultRule& rule, const Point& point) {
  if (end_.planned()) return;  // what ends is not harmed further
  FaultyCarrier& carrier = connection_.carrier();
  const std::uint64_t number = numbers_.next();
  const auto note = [&] { carrier.injector().note(rule, point); };
  switch (rule.kind) {
    case FaultKind::kDropConnection:
    case FaultKind::kBreakEndpoint:
      end_.plan({.after = number + (rule.word == "after" ? 1 : 0),
                 .is_protocol_error = rule.kind == FaultKind::kBreakEndpoint,
                 .is_within = rule.word == "within"});
      note();
      return check_cut();
    case FaultKind::kFailRequest:
      marks_[number].is_refused = true;
      return note();
    case FaultKind::kFailAdapter:
      note();
      return carrier.fail();
    case FaultKind::kCorruptPayload:
    case FaultKind::kCorruptHeader:
      return mark_damage(rule, point);
    case FaultKind::kLateCompletions:
      if (!connection_.takes_notes()) return;  // nothing would be late
      marks_[number].late = time_of(rule);
      return note();
    case FaultKind::kDelay:
    case FaultKind::kJitter:
      return delay(rule, point);
    case FaultKind::kLimitRate:
      if (rate_.rate() != rule.rate) note();
      return rate_.set(rule.rate);
    case FaultKind::kFlap:
      note();
      return outlet_.hold_for(*time_of(rule));
    case FaultKind::kStopPeer:
      note();
      return carrier.hold(std::nullopt, time_of(rule));
    case FaultKind::kPartition:
      note();
      return carrier.hold(connection_.peer(), time_of(rule));
    default:
      return note();
  }
}

void FaultySender::delay(const FaultRule& rule, const Point& point) {
  const Injector& injector = connection_.carrier().injector();
  FaultRule drawn = rule;
  if (rule.kind == FaultKind::kJitter) {
    constexpr std::uint64_t kSteps = 1000;
    const auto step = static_cast<double>(injector.draw(rule, point) % kSteps) / static_cast<double>(kSteps);
    // The journal gets the delay that was drawn, so that a plan made of it repeats the run exactly.
    drawn.kind = FaultKind::kDelay;
    drawn.ms = *rule.ms * step;
  }
  injector.note(drawn, point);
  outlet_.hold_for(to_duration(*drawn.ms));
}

void FaultySender::mark_damage(const FaultRule& rule, const Point& point) {
  const Injector& injector = connection_.carrier().injector();
  const std::uint64_t drawn = injector.draw(rule, point);
  const bool is_header = rule.kind == FaultKind::kCorruptHeader;
  FaultRule exact = rule;
  exact.at = rule.at.value_or(is_header ? (drawn >> 8) % 64 : (drawn >> 8) % point.size);
  exact.bit = rule.bit.value_or(drawn % 8);
  if (!is_header && *exact.at >= point.size) return;  // no such byte in this message
  injector.note(exact, point);
  marks_[numbers_.next()].damage =
      transport::Damage{.is_header = is_header, .place = *exact.at, .bit = static_cast<unsigned>(*exact.bit)};
}

void FaultySender::on_answer(const Message& answer) {
  const std::uint64_t count = numbers_.take_answer();
  connection_.sink().on_message(answer);
  acknowledge(count);
}

// An acknowledgement that covers a request with a late completion waits; later ones join it.
void FaultySender::on_ack(const Message& note) {
  if (late_ack_) {
    late_ack_ = std::max(*late_ack_, note.note_value);
    return;
  }
  for (const auto& [number, marks] : marks_) {
    if (!marks.late || number >= note.note_value || number < numbers_.acknowledged()) continue;
    late_ack_ = note.note_value;
    return connection_.carrier().set(ack_alarm_, *marks.late);
  }
  connection_.sink().on_message(note);
  acknowledge(note.note_value);
}

void FaultySender::deliver_late_ack() {
  if (end_.is_over() || !late_ack_) return;
  const std::uint64_t count = *std::exchange(late_ack_, std::nullopt);
  connection_.sink().on_message(Message{.opcode = Opcode::kNote, .note = NoteKind::kAck, .note_value = count});
  acknowledge(count);
}

void FaultySender::acknowledge(std::uint64_t count) {
  numbers_.acknowledge(count);
  // An acknowledged request is not sent again, so its marks are no longer needed.
  marks_.erase(marks_.begin(), marks_.lower_bound(numbers_.acknowledged()));
  check_cut();
}

// REQUIRES: a cut is planned. A peer that sends no notes acknowledges nothing.
bool FaultySender::is_cut_due() const {
  return !connection_.takes_notes() || numbers_.acknowledged() >= end_.planned()->after;
}

void FaultySender::check_cut() {
  if (!end_.planned() || end_.is_over() || !is_cut_due()) return;
  if (!end_.planned()->is_within) return end_.carry_out_soon();
  outlet_.open();  // the request that is torn may come
}

}  // namespace softdat::simnic::fault
