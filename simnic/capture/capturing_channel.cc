// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/capture/capturing_channel.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/ordered_copy.h"
#include "simnic/capture/packet_head.h"
#include "simnic/datagram.h"

namespace softdat::simnic::capture {

using transport::Arrival;
using transport::CloseReason;
using transport::Message;
using transport::Offer;
using transport::Placement;
using transport::SendResult;
using transport::Slice;

std::uint16_t port_of(const Offer& offer) {
  if ((offer.features & transport::kDatagrams) == 0 || offer.address.port != 0) return offer.address.port;
  return static_cast<std::uint16_t>(1 + queue_pair_number(offer));
}

transport::Address initiator_of(const Offer& request) {
  return request.address.with_port(shown_port(port_of(request)));
}

transport::Address responder_of(const transport::Address& address, const Offer& request) {
  return address.with_port(shown_port(request.service_id));
}

template <typename Body>
void CapturingChannel::capture(Body body) {
  try {
    body();
  } catch (const std::bad_alloc&) {
    place_.recorder.count_drop(place_.interface);
  }
}

void CapturingChannel::connect(transport::Carrier& carrier, const transport::Address& remote, const Offer& request) {
  is_initiator_ = true;
  remote_ = remote;
  request_ = request;
  asked_ = now();
  inner_ = carrier.connect(remote, request, *this);
}

bool CapturingChannel::accept(transport::InboundRequest& request, const Offer& reply) {
  request_ = request.offer();
  reply_ = reply;
  asked_ = now();
  inner_ = request.accept(reply, *this);
  return inner_ != nullptr;
}

void CapturingChannel::on_established(const Offer& peer) {
  capture([&] { capture_established(peer); });
  sink_.on_established(peer);
}

void CapturingChannel::capture_established(const Offer& peer) {
  const Offer& reply = is_initiator_ ? peer : reply_;
  const transport::Address& known = reply.address.is_set() ? reply.address : remote_;
  const transport::Address responder = responder_of(known, request_);
  const transport::Address initiator = initiator_of(request_);
  const transport::Address& own = is_initiator_ ? initiator : responder;
  const std::uint16_t port = port_of(is_initiator_ ? request_ : reply_);
  stream_.emplace(place_, own, is_initiator_ ? responder : initiator, port, is_initiator_);
  stream_->begin(request_, asked_, carrier_name());
  stream_->accept(request_, reply, features(), is_initiator_ ? now() : asked_);
}

void CapturingChannel::on_refused(transport::Refusal reason, std::span<const std::byte> private_data) {
  capture([&] { capture_refused(reason, private_data); });
  sink_.on_refused(reason, private_data);
}

void CapturingChannel::capture_refused(transport::Refusal reason, std::span<const std::byte> private_data) {
  Stream stream(place_, initiator_of(request_), responder_of(remote_, request_), port_of(request_), true);
  if (reason != transport::Refusal::kByConsumer) {
    return stream.ask_in_vain(request_, asked_, reason != transport::Refusal::kUnreachable);
  }
  stream.begin(request_, asked_, "");
  stream.reject(request_, private_data);
}

// Stamped before the peer can have the message, so that nothing which it causes comes before it.
SendResult CapturingChannel::send(const Message& message, transport::PayloadSource* payload) {
  const Stamp before = now();
  const SendResult result = inner_->send(message, payload);
  if (result == SendResult::kDone && stream_) capture([&] { stream_->send(message, payload, before); });
  return result;
}

void CapturingChannel::terminate(const transport::TerminateCode& code) {
  if (stream_) {
    capture([&] {
      stream_->terminate(Way::kOut, code);
      stream_->finish(Way::kOut);
    });
  }
  inner_->terminate(code);
}

void CapturingChannel::close(transport::CloseMode mode) {
  if (stream_) capture([&] { stream_->finish(Way::kOut); });
  inner_->close(mode);
}

void CapturingChannel::cut() {
  if (stream_) capture([&] { stream_->reset(Way::kOut); });
  inner_->cut();
}

bool CapturingChannel::cut_within(const Message& message, transport::PayloadSource* payload) {
  if (!inner_->cut_within(message, payload)) return false;
  if (stream_) capture([&] { stream_->reset(Way::kOut); });
  return true;
}

void CapturingChannel::on_closed(CloseReason reason, const transport::TerminateCode& code) {
  if (stream_) capture([&] { capture_closed(reason, code); });
  sink_.on_closed(reason, code);
}

void CapturingChannel::capture_closed(CloseReason reason, const transport::TerminateCode& code) {
  switch (reason) {
    case CloseReason::kBye:
      stream_->finish(Way::kIn);
      return stream_->finish(Way::kOut);
    case CloseReason::kLost:
      stream_->reset(Way::kIn);
      return stream_->reset(Way::kOut);
    case CloseReason::kTerminated:
      stream_->terminate(Way::kIn, code);
      stream_->finish(Way::kIn);
      return stream_->finish(Way::kOut);
    case CloseReason::kProtocolError:
      stream_->terminate(Way::kOut, code);
      stream_->finish(Way::kOut);
      return;
  }
}

Placement CapturingChannel::place(const Arrival& arrival, transport::SliceList& out) {
  if (!stream_) return sink_.place(arrival, out);
  if (arrival.message_offset == 0) arrived_.start();
  const Message message = {.opcode = arrival.opcode,
                           .length = UINT32_MAX,
                           .stag = arrival.stag,
                           .offset = arrival.offset - arrival.message_offset};
  capture([&] { take_placed(arrival.message_offset, message); });
  arrived_.placing_at = arrival.message_offset;
  arrived_.placing.clear();
  // A sink that discards may have destroyed this channel.
  if (sink_.place(arrival, out) == Placement::kDiscard) return Placement::kDiscard;
  capture([&] { arrived_.placing.assign(out.slices().begin(), out.slices().end()); });
  return Placement::kPlace;
}

void CapturingChannel::on_fault(const Arrival& arrival) {
  arrived_.placing.clear();
  sink_.on_fault(arrival);
}

// The carrier has copied the message up to byte `until`. Bytes that it was not given a place for are not known.
void CapturingChannel::take_placed(std::uint64_t until, const Message& message) {
  std::uint64_t at = std::max<std::uint64_t>(arrived_.placing_at, arrived_.offset + arrived_.length);
  if (arrived_.placing_at > at) append(nullptr, arrived_.placing_at - at, message);
  for (const Slice& slice : arrived_.placing) {
    if (at >= until) break;
    const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(slice.length, until - at));
    append(slice.data, length, message);
    at += length;
  }
  arrived_.placing.clear();
  if (at < until) append(nullptr, until - at, message);
}

void CapturingChannel::append(const std::byte* from, std::size_t length, const Message& message) {
  const std::size_t most = std::min(place_.recorder.snap_length(), kMostPayload);
  while (length > 0) {
    if (arrived_.length == kMostPayload) put_arrived(message);
    const std::size_t part = std::min(length, kMostPayload - arrived_.length);
    const bool is_next = arrived_.known == arrived_.length && arrived_.length < most;
    if (from != nullptr && is_next) {
      const std::size_t seen = std::min(part, most - arrived_.length);
      if (arrived_.bytes.size() < most) arrived_.bytes.resize(most);
      if (base::copy_in(arrived_.bytes.data() + arrived_.length, from, seen)) arrived_.known += seen;
    }
    arrived_.length += part;
    if (from != nullptr) from += part;
    length -= part;
  }
}

void CapturingChannel::put_arrived(const Message& message) {
  const Slice seen{arrived_.bytes.data(), arrived_.known};
  stream_->add(Way::kIn, message, {.offset = arrived_.offset, .length = arrived_.length, .bytes = std::span(&seen, 1)},
               now());
  arrived_.offset += static_cast<std::uint32_t>(arrived_.length);
  arrived_.length = arrived_.known = 0;
}

void CapturingChannel::on_message(const Message& message) {
  if (stream_) capture([&] { capture_message(message); });
  sink_.on_message(message);
}

void CapturingChannel::capture_message(const Message& message) {
  take_placed(payload_length(message), message);
  put_arrived(message);
  arrived_.start();
}

}  // namespace softdat::simnic::capture
