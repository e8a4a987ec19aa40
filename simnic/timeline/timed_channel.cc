// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/timeline/timed_channel.h"

#include <optional>
#include <utility>

namespace softdat::simnic::timeline {
namespace {

using transport::Opcode;
using transport::Placement;
using transport::SendResult;
using Kind = base::TimelineMessages::Kind;

// Answers and notes belong to no post of the sender's.
std::optional<Kind> kind_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::kSend:
    case Opcode::kSendInvalidate:
    case Opcode::kSendSolicited:
    case Opcode::kSendSolicitedInvalidate:
    case Opcode::kImmediate:
    case Opcode::kImmediateSolicited:
    case Opcode::kSendPlaced:
    case Opcode::kSendPlacedSolicited:
      return Kind::kSend;
    case Opcode::kWrite:
      return Kind::kWrite;
    case Opcode::kReadRequest:
      return Kind::kRead;
    case Opcode::kAtomicRequest:
      return Kind::kAtomic;
    case Opcode::kReadResponse:
    case Opcode::kAtomicResponse:
    case Opcode::kTerminate:
    case Opcode::kNote:
      break;
  }
  return std::nullopt;
}

}  // namespace

void TimedChannel::connect(transport::Carrier& carrier, const transport::Address& remote,
                           const transport::Offer& request) {
  is_initiator_ = true;
  peer_ = remote;
  timeline_.connecting(own_);
  inner_ = carrier.connect(remote, request, *this);
}

bool TimedChannel::accept(transport::InboundRequest& request, const transport::Offer& reply) {
  peer_ = request.offer().address;
  inner_ = request.accept(reply, *this);
  return inner_ != nullptr;
}

// The initiator learns here which queue pair has answered.
void TimedChannel::on_established(const transport::Offer& peer) {
  if (is_initiator_ && peer.address.is_set()) peer_ = peer.address;
  timeline_.established(own_, peer_, is_initiator_);
  sink_.on_established(peer);
}

void TimedChannel::on_refused(transport::Refusal reason, std::span<const std::byte> private_data) {
  timeline_.ended(own_, true);
  sink_.on_refused(reason, private_data);
}

void TimedChannel::on_closed(transport::CloseReason reason, const transport::TerminateCode& code) {
  timeline_.ended(own_, reason != transport::CloseReason::kBye);
  sink_.on_closed(reason, code);
}

// Told before the peer can have the message, so that nothing which it causes comes before it. What is sent again, for
// want of a receive, is not told again.
void TimedChannel::tell_sent(Kind kind) {
  if (std::exchange(is_told_, false)) return;
  if (again_ > 0) {
    --again_;
    return;
  }
  ++sent_;
  timeline_.wire(own_, kind);
}

SendResult TimedChannel::send(const transport::Message& message, transport::PayloadSource* payload) {
  const auto kind = kind_of(message.opcode);
  if (kind) tell_sent(*kind);
  if (message.opcode == Opcode::kNote && message.note == transport::NoteKind::kResent && message.note_value < sent_) {
    // So many messages come again; they belong to events that have been told.
    again_ = sent_ - message.note_value;
  }
  const SendResult result = inner_->send(message, payload);
  if (kind && result == SendResult::kBlocked) {
    timeline_.lack_room(own_);
    // The message comes again when there is room, and is the same event.
    is_told_ = true;
  }
  return result;
}

bool TimedChannel::send_short(const transport::ShortSend& short_send) {
  tell_sent(Kind::kSend);
  const bool is_sent = inner_->send_short(short_send);
  is_told_ = !is_sent;
  return is_sent;
}

void TimedChannel::terminate(const transport::TerminateCode& code) {
  timeline_.ended(own_, true);
  inner_->terminate(code);
}

void TimedChannel::close(transport::CloseMode mode) {
  timeline_.ended(own_, false);
  inner_->close(mode);
}

void TimedChannel::cut() {
  timeline_.ended(own_, true);
  inner_->cut();
}

bool TimedChannel::cut_within(const transport::Message& message, transport::PayloadSource* payload) {
  if (!inner_->cut_within(message, payload)) return false;
  timeline_.ended(own_, true);
  return true;
}

// A sink that discards may have destroyed this channel.
Placement TimedChannel::place(const transport::Arrival& arrival, transport::SliceList& out) {
  base::TimelineEndpoints& timeline = timeline_;
  const transport::Address own = own_;
  const bool was_dropping = std::exchange(is_dropping_, true);
  const Placement answer = sink_.place(arrival, out);
  if (answer == Placement::kPlace) {
    is_dropping_ = was_dropping;
  } else if (!was_dropping && kind_of(arrival.opcode) == Kind::kSend) {
    timeline.lack_receive(own);
  }
  return answer;
}

// All that comes after a message that was dropped is dropped, too, until its sender begins again.
void TimedChannel::on_message(const transport::Message& message) {
  if (message.opcode == Opcode::kNote && message.note == transport::NoteKind::kResent) is_dropping_ = false;
  const auto kind = kind_of(message.opcode);
  if (kind && !is_dropping_) timeline_.place(own_, *kind, message.length, base::timeline_now());
  sink_.on_message(message);
}

bool TimedChannel::on_short_send(const transport::ShortSend& short_send) {
  const std::uint64_t now = base::timeline_now();
  if (!sink_.on_short_send(short_send)) return false;
  timeline_.place(own_, Kind::kSend, short_send.payload.size(), now);
  return true;
}

}  // namespace softdat::simnic::timeline
