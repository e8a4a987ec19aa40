// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/nasty/nasty_channel.h"

#include <optional>

namespace softdat::simnic::nasty {
namespace {

using transport::Arrival;
using transport::Message;
using transport::NoteKind;
using transport::Offer;
using transport::Opcode;
using transport::Placement;
using transport::SendResult;

}  // namespace

NastyChannel::NastyChannel(NastyCarrier& carrier, std::uint32_t endpoint, transport::ChannelSink& sink)
    : endpoint_(endpoint), context_{.carrier = carrier, .sink = sink} {
  carrier.add_endpoint(endpoint);
}

void NastyChannel::connect(const transport::Address& remote, const Offer& request) {
  is_connector_ = true;
  inner_ = context_.carrier.inner().connect(remote, request, *this);
}

bool NastyChannel::accept(transport::InboundRequest& request, const Offer& reply) {
  inner_ = request.accept(reply, *this);
  return inner_ != nullptr;
}

void NastyChannel::on_established(const Offer& peer) {
  if (context_.is_over) return;
  // Decisions depend on the number of the connection, so a run can be repeated.
  context_.where = context_.carrier.count_connection(endpoint_);
  const std::optional<Offer> padded = is_connector_ ? context_.carrier.pad(peer) : std::nullopt;
  context_.sink.on_established(padded ? *padded : peer);
}

void NastyChannel::on_refused(transport::Refusal reason, std::span<const std::byte> private_data) {
  if (end()) context_.sink.on_refused(reason, private_data);
}

// Messages and acks that came before the end are handed on before it.
void NastyChannel::on_closed(transport::CloseReason reason, const transport::TerminateCode& code) {
  receiver_.hand_on_all();
  acks_.hand_on();
  if (end()) context_.sink.on_closed(reason, code);
}

void NastyChannel::terminate(const transport::TerminateCode& code) {
  if (end() && inner_) inner_->terminate(code);
}

void NastyChannel::close(transport::CloseMode mode) {
  if (end() && inner_) inner_->close(mode);
}

void NastyChannel::cut() {
  if (end() && inner_) inner_->cut();
}

bool NastyChannel::cut_within(const Message& message, transport::PayloadSource* payload) {
  if (context_.is_over || !inner_->cut_within(message, payload)) return false;
  context_.is_over = true;
  return true;
}

SendResult NastyChannel::send(const Message& message, transport::PayloadSource* payload) {
  if (context_.is_over) return SendResult::kClosed;
  if (fault::is_request(message.opcode)) return sender_.send(*inner_, message, payload);
  if (message.opcode == Opcode::kNote && message.note == NoteKind::kResent) sender_.rewind(message.note_value);
  return inner_->send(message, payload);
}

void NastyChannel::flush() {
  if (inner_ && !context_.is_over) inner_->flush();
}

Placement NastyChannel::place(const Arrival& arrival, transport::SliceList& out) {
  return context_.is_over ? Placement::kDiscard : receiver_.place(arrival, out);
}

void NastyChannel::on_fault(const Arrival& arrival) {
  if (!context_.is_over) context_.sink.on_fault(arrival);
}

// Acknowledgements pass what has arrived and waits; they say nothing of it. All other notes keep their order.
void NastyChannel::on_message(const Message& message) {
  if (context_.is_over) return;
  if (fault::is_answer(message.opcode)) sender_.on_answer();
  if (message.opcode != Opcode::kNote) return receiver_.on_message(message);
  if (message.note == NoteKind::kAck) return acks_.on_ack(message.note_value);
  receiver_.on_note(message);
}

}  // namespace softdat::simnic::nasty
