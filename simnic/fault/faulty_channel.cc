// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/fault/faulty_channel.h"

#include <algorithm>
#include <new>

namespace softdat::simnic::fault {

using transport::Arrival;
using transport::Message;
using transport::NoteKind;
using transport::Offer;
using transport::Opcode;
using transport::Placement;
using transport::SendResult;

FaultyChannel::FaultyChannel(FaultyCarrier& carrier, std::uint32_t endpoint, const transport::Address& peer,
                             transport::ChannelSink& sink)
    : connection_(carrier, endpoint, peer, sink) {
  carrier.channels().insert(this);
}

FaultyChannel::~FaultyChannel() {
  connection_.carrier().channels().erase(this);
}

void FaultyChannel::connect(const Offer& request, const ConnectFate& fate) {
  request_ = request;
  fate_ = fate;
  is_connector_ = true;
  if (fate.private_data) {
    request_.private_data.resize(std::min(request_.private_data.size(), *fate.private_data));
  }
  // Without an inner channel: the queue pair's timer ends the attempt, as it would for a peer that is silent.
  if (fate.is_ignored && !fate.refusal) return;
  // A refused connect hears so from the timer, because no sink may be called within connect().
  fate.refusal ? begin_inner_at(fate.leaves_at) : begin_inner();
}

void FaultyChannel::begin_inner_at(base::Time time) {
  FaultyCarrier& carrier = connection_.carrier();
  // Never: the queue pair's timer ends the attempt.
  if (time != base::kNever) carrier.set(begin_alarm_, std::max(time - carrier.now(), base::Duration::zero()));
}

// The request leaves when its delay, and each stop and partition that holds it, is over.
void FaultyChannel::begin_inner() {
  FaultyCarrier& carrier = connection_.carrier();
  const base::Time time = std::max(fate_.leaves_at, carrier.held_until(peer()));
  if (time > carrier.now()) return begin_inner_at(time);
  connection_.set_inner(carrier.inner().connect(peer(), request_, *this));
}

void FaultyChannel::on_begin_alarm() try {
  if (end_.is_over()) return;
  if (fate_.refusal) return on_refused(*fate_.refusal, {});
  begin_inner();
} catch (const std::bad_alloc&) {
  on_refused(transport::Refusal::kUnreachable, {});
}

bool FaultyChannel::accept(transport::InboundRequest& request, const Offer& reply, const ConnectFate& fate) {
  fate_ = fate;
  connection_.set_inner(request.accept(reply, *this));
  return connection_.inner() != nullptr;
}

// A partition may have begun while the connection was being made.
void FaultyChannel::on_established(const Offer& peer) {
  if (end_.is_over()) return;
  connection_.establish();
  connection_.sink().on_established(peer);
  if (end_.is_over()) return;
  const FaultyCarrier& carrier = connection_.carrier();
  const base::Time until = carrier.held_until(connection_.peer());
  if (until > carrier.now()) hold_until(until);
  if (!fate_.is_dropped) return;
  end_.plan({});
  end_.carry_out_soon();
}

void FaultyChannel::on_refused(transport::Refusal reason, std::span<const std::byte> private_data) {
  if (end_.end()) connection_.sink().on_refused(reason, private_data);
}

void FaultyChannel::on_closed(transport::CloseReason reason, const transport::TerminateCode& code) {
  // An ack that was held back is still older than the end.
  sender_.deliver_late_ack();
  if (end_.end()) connection_.sink().on_closed(reason, code);
}

// The adapter fails: the sink hears what fits its state, and a peer sees a reset.
void FaultyChannel::lose() {
  if (!end_.end()) return;
  const bool is_established = connection_.is_established();
  if (transport::Channel* const inner = connection_.inner()) {
    is_established ? inner->cut() : inner->close(transport::CloseMode::kAbrupt);
  }
  transport::ChannelSink& sink = connection_.sink();
  if (!is_established && is_connector_) return sink.on_refused(transport::Refusal::kUnreachable, {});
  sink.on_closed(transport::CloseReason::kLost, {});
}

void FaultyChannel::terminate(const transport::TerminateCode& code) {
  if (end_.end_by_owner() && connection_.inner() != nullptr) connection_.inner()->terminate(code);
}

void FaultyChannel::close(transport::CloseMode mode) {
  if (end_.end_by_owner() && connection_.inner() != nullptr) connection_.inner()->close(mode);
}

transport::Features FaultyChannel::features() const {
  return connection_.inner() != nullptr ? connection_.inner()->features() : 0;
}

const char* FaultyChannel::carrier_name() const {
  return connection_.inner() != nullptr ? connection_.inner()->carrier_name() : "faulty";
}

SendResult FaultyChannel::send(const Message& message, transport::PayloadSource* payload) {
  if (end_.is_over()) return SendResult::kClosed;
  // A note of the injector's waits for a border of messages, and goes first.
  if (!outlet_.make_ready()) return outlet_.block();
  if (is_request(message.opcode)) return sender_.send(message, payload);
  if (message.opcode == Opcode::kNote && message.note == NoteKind::kResent) sender_.rewind(message.note_value);
  return outlet_.give(message, payload);
}

void FaultyChannel::flush() {
  if (connection_.inner() != nullptr && !end_.is_over()) connection_.inner()->flush();
}

Placement FaultyChannel::place(const Arrival& arrival, transport::SliceList& out) {
  if (end_.is_over()) return Placement::kDiscard;
  if (arrival.opcode == Opcode::kReadResponse) return connection_.sink().place(arrival, out);
  return receiver_.place(arrival, out);
}

void FaultyChannel::on_fault(const Arrival& arrival) {
  if (!end_.is_over()) connection_.sink().on_fault(arrival);
}

void FaultyChannel::on_message(const Message& message) {
  if (end_.is_over()) return;
  if (is_answer(message.opcode)) return sender_.on_answer(message);
  if (is_request(message.opcode)) return receiver_.on_message(message);
  if (message.note == NoteKind::kAck) return sender_.on_ack(message);
  // The injector asked for this repetition; the queue pair knows nothing of it.
  if (message.note == NoteKind::kResent && receiver_.on_resent(message.note_value)) return;
  connection_.sink().on_message(message);
  if (message.note == NoteKind::kResend && !end_.is_over()) sender_.on_resend();
}

}  // namespace softdat::simnic::fault
