// SPDX-License-Identifier: BSD-2-Clause
// What a queue pair sends.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/ordered_copy.h"
#include "simnic/fault/faulty_channel.h"

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

bool is_request(Opcode opcode) {
  return opcode != Opcode::kNote && opcode != Opcode::kReadResponse && opcode != Opcode::kAtomicResponse &&
         opcode != Opcode::kTerminate;
}

bool is_immediate(Opcode opcode) {
  return opcode == Opcode::kImmediate || opcode == Opcode::kImmediateSolicited;
}

FaultOp op_of(Opcode opcode) {
  if (opcode == Opcode::kWrite) return FaultOp::kWrite;
  if (opcode == Opcode::kReadRequest) return FaultOp::kRead;
  return opcode == Opcode::kAtomicRequest ? FaultOp::kAtomic : FaultOp::kSend;
}

// The same request with a key that the peer refuses.
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

// A payload with one bit inverted.
class DamagedPayload final : public PayloadSource {
 public:
  DamagedPayload(PayloadSource& inner, const transport::Damage& damage) : inner_(inner), damage_(damage) {}

  bool gather(std::uint64_t offset, std::size_t length, transport::SliceList& out) override {
    transport::SliceList found;
    if (!inner_.gather(offset, length, found)) return false;
    for (const transport::Slice& slice : found.slices()) {
      const bool is_hit = damage_.place >= offset && damage_.place - offset < slice.length;
      if (!is_hit) {
        out.add(slice.data, slice.length);
      } else {
        changed_.resize(slice.length);
        if (!base::copy_in(changed_.data(), slice.data, slice.length)) return false;
        changed_[damage_.place - offset] ^= static_cast<std::byte>(1u << damage_.bit);
        out.add(changed_.data(), slice.length);
      }
      offset += slice.length;
    }
    return true;
  }

 private:
  PayloadSource& inner_;
  const transport::Damage damage_;
  std::vector<std::byte> changed_;
};

}  // namespace

SendResult FaultyChannel::send(const Message& message, PayloadSource* payload) {
  if (is_over_) return SendResult::kClosed;
  if (is_held_) return block();
  if (!is_midway_ && own_note_ && !push_own_note()) return block();
  if (is_request(message.opcode)) return send_request(message, payload);
  if (message.opcode == Opcode::kNote && message.note == NoteKind::kResent) rewind(message.note_value);
  return give(message, payload);
}

SendResult FaultyChannel::block() {
  owes_writable_ = true;
  return SendResult::kBlocked;
}

SendResult FaultyChannel::send_request(const Message& message, PayloadSource* payload) {
  const std::uint64_t number = next_;
  if (number == decided_) {
    ++decided_;
    if (!is_immediate(message.opcode)) decide_request(message);
  }
  if (is_held_) return block();
  if (cut_ && number >= cut_->after) {
    const bool is_turn = cut_->is_within && (!takes_notes() || acknowledged_ >= cut_->after);
    return is_turn ? give_torn(message, payload) : block();
  }
  if (rate_ != 0 && charged_ <= number && is_rate_reached(transport::payload_length(message))) return block();
  const auto found = marks_.find(number);
  const SendResult result =
      found == marks_.end() ? give(message, payload) : give_marked(message, payload, found->second);
  if (result == SendResult::kDone) on_taken(message);
  return result;
}

SendResult FaultyChannel::give(const Message& message, PayloadSource* payload) {
  const SendResult result = inner_->send(message, payload);
  is_midway_ = result == SendResult::kBlocked;
  return result;
}

SendResult FaultyChannel::give_marked(const Message& message, PayloadSource* payload, const Marks& marks) {
  const Message changed = marks.is_refused ? with_bad_key(message) : message;
  if (!marks.damage || payload == nullptr) {
    if (marks.damage && !is_midway_) static_cast<void>(inner_->damage_next(*marks.damage));
    return give(changed, payload);
  }
  if (is_midway_ ? takes_damage_ : (takes_damage_ = inner_->damage_next(*marks.damage))) return give(changed, payload);
  DamagedPayload damaged(*payload, *marks.damage);
  return give(changed, &damaged);
}

SendResult FaultyChannel::give_torn(const Message& message, PayloadSource* payload) {
  is_over_ = true;
  if (!inner_->cut_within(message, payload)) inner_->cut();
  is_torn_ = true;
  carrier_.set(end_alarm_, base::Duration::zero());
  return SendResult::kClosed;
}

void FaultyChannel::on_taken(const Message& message) {
  if (message.opcode == Opcode::kReadRequest || message.opcode == Opcode::kAtomicRequest) reads_.push_back(next_);
  ++next_;
}

// The receiver had no receive: everything from this message on is sent again.
void FaultyChannel::rewind(std::uint64_t number) {
  next_ = number;
  while (!reads_.empty() && reads_.back() >= number) reads_.pop_back();
}

void FaultyChannel::decide_request(const Message& message) {
  // A read's length is that of the answer.
  const Point point{.stage = base::FaultStage::kMessage,
                    .op = op_of(message.opcode),
                    .endpoint = endpoint_,
                    .connection = connection_,
                    .number = ++requests_,
                    .size = message.length,
                    .peer = peer_};
  for (const FaultRule* rule : carrier_.injector().decide(point, sent_counts_)) carry_out(*rule, point);
}

void FaultyChannel::carry_out(const FaultRule& rule, const Point& point) {
  if (cut_) return;  // what ends is not harmed further
  const auto note = [&] { carrier_.injector().note(rule, point); };
  switch (rule.kind) {
    case FaultKind::kDropConnection:
    case FaultKind::kBreakEndpoint:
      cut_ = Cut{.after = next_ + (rule.word == "after" ? 1 : 0),
                 .is_protocol_error = rule.kind == FaultKind::kBreakEndpoint,
                 .is_within = rule.word == "within"};
      note();
      return check_cut();
    case FaultKind::kFailRequest:
      marks_[next_].is_refused = true;
      return note();
    case FaultKind::kFailAdapter:
      note();
      return carrier_.fail();
    case FaultKind::kCorruptPayload:
    case FaultKind::kCorruptHeader:
      return mark_damage(rule, point);
    case FaultKind::kLateCompletions:
      marks_[next_].late = time_of(rule);
      return note();
    case FaultKind::kDelay:
    case FaultKind::kJitter:
      return delay(rule, point);
    case FaultKind::kLimitRate:
      if (rate_ == 0) note();
      rate_ = rule.rate;
      return;
    case FaultKind::kFlap:
      note();
      return hold_for(*time_of(rule));
    case FaultKind::kStopPeer:
      note();
      return carrier_.hold(std::nullopt, time_of(rule));
    case FaultKind::kPartition:
      note();
      return carrier_.hold(peer_, time_of(rule));
    default:
      return note();
  }
}

void FaultyChannel::delay(const FaultRule& rule, const Point& point) {
  if (rule.kind == FaultKind::kDelay) {
    carrier_.injector().note(rule, point);
    return hold_for(to_duration(*rule.ms));
  }
  constexpr std::uint64_t kSteps = 1000;
  const auto step = static_cast<double>(carrier_.injector().draw(rule, point) % kSteps) / static_cast<double>(kSteps);
  FaultRule drawn = rule;
  drawn.kind = FaultKind::kDelay;
  drawn.ms = *rule.ms * step;
  carrier_.injector().note(drawn, point);
  hold_for(to_duration(*drawn.ms));
}

void FaultyChannel::mark_damage(const FaultRule& rule, const Point& point) {
  const std::uint64_t drawn = carrier_.injector().draw(rule, point);
  const bool is_header = rule.kind == FaultKind::kCorruptHeader;
  FaultRule exact = rule;
  exact.at = rule.at.value_or(is_header ? (drawn >> 8) % 64 : (drawn >> 8) % point.size);
  exact.bit = rule.bit.value_or(drawn % 8);
  if (!is_header && *exact.at >= point.size) return;  // no such byte in this message
  carrier_.injector().note(exact, point);
  marks_[next_].damage =
      transport::Damage{.is_header = is_header, .place = *exact.at, .bit = static_cast<unsigned>(*exact.bit)};
}

// Each message is counted once, and takes its time before the next.
bool FaultyChannel::is_rate_reached(std::uint64_t size) {
  const base::Time now = carrier_.now();
  if (free_at_ > now) {
    hold_until(free_at_);
    return true;
  }
  charged_ = next_ + 1;
  const std::chrono::duration<double> needed(static_cast<double>(size) / static_cast<double>(rate_));
  free_at_ = now + std::chrono::duration_cast<base::Duration>(needed);
  return false;
}

void FaultyChannel::hold_for(base::Duration time) {
  hold_until(base::deadline_after(carrier_.now(), time));
}

// The longest of several holds counts.
void FaultyChannel::hold_until(base::Time time) {
  if (is_over_ || (is_held_ && time <= held_until_)) return;
  is_held_ = true;
  held_until_ = time;
  if (time == base::kNever) return hold_alarm_.cancel_timer();
  carrier_.set(hold_alarm_, std::max(time - carrier_.now(), base::Duration::zero()));
}

void FaultyChannel::release() {
  is_held_ = false;
  if (is_over_) return;
  if (own_note_ && !is_midway_) static_cast<void>(push_own_note());
  if (std::exchange(owes_writable_, false)) sink_.on_writable();
}

void FaultyChannel::flush() {
  if (inner_ && !is_over_) inner_->flush();
}

void FaultyChannel::on_writable() {
  if (is_over_) return;
  owes_writable_ = true;
  if (is_held_) return;
  release();
}

}  // namespace softdat::simnic::fault
