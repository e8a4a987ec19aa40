// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/capture/capturing_channel.h"

namespace softdat::simnic::capture {

using transport::Arrival;
using transport::Message;
using transport::Offer;
using transport::Placement;
using transport::SendResult;

void CapturingChannel::connect(transport::Carrier& carrier, const transport::Address& remote, const Offer& request) {
  capture_.ask(remote, request);
  inner_ = carrier.connect(remote, request, *this);
}

bool CapturingChannel::accept(transport::InboundRequest& request, const Offer& reply) {
  capture_.answer(request.offer(), reply);
  inner_ = request.accept(reply, *this);
  return inner_ != nullptr;
}

void CapturingChannel::on_established(const Offer& peer) {
  capture_.on_established(peer, features(), carrier_name());
  sink_.on_established(peer);
}

void CapturingChannel::on_refused(transport::Refusal reason, std::span<const std::byte> private_data) {
  capture_.on_refused(reason, private_data);
  sink_.on_refused(reason, private_data);
}

// Stamped before the peer can have the message, so that nothing which it causes comes before it.
SendResult CapturingChannel::send(const Message& message, transport::PayloadSource* payload) {
  const Stamp before = now();
  const SendResult result = inner_->send(message, payload);
  if (result == SendResult::kDone) capture_.on_sent(message, payload, before);
  return result;
}

void CapturingChannel::terminate(const transport::TerminateCode& code) {
  capture_.on_terminate(code);
  inner_->terminate(code);
}

void CapturingChannel::close(transport::CloseMode mode) {
  capture_.on_close();
  inner_->close(mode);
}

void CapturingChannel::cut() {
  capture_.on_cut();
  inner_->cut();
}

bool CapturingChannel::cut_within(const Message& message, transport::PayloadSource* payload) {
  if (!inner_->cut_within(message, payload)) return false;
  capture_.on_cut();
  return true;
}

void CapturingChannel::on_closed(transport::CloseReason reason, const transport::TerminateCode& code) {
  capture_.on_closed(reason, code);
  sink_.on_closed(reason, code);
}

Placement CapturingChannel::place(const Arrival& arrival, transport::SliceList& out) {
  capture_.on_arrival(arrival);
  // A sink that discards may have destroyed this channel.
  if (sink_.place(arrival, out) == Placement::kDiscard) return Placement::kDiscard;
  capture_.on_placement(out.slices());
  return Placement::kPlace;
}

void CapturingChannel::on_fault(const Arrival& arrival) {
  capture_.on_fault();
  sink_.on_fault(arrival);
}

void CapturingChannel::on_message(const Message& message) {
  capture_.on_message(message);
  sink_.on_message(message);
}

}  // namespace softdat::simnic::capture
