// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/capture/connection_capture.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/ordered_copy.h"
#include "simnic/capture/packet_head.h"
#include "simnic/datagram.h"

namespace softdat::simnic::capture {
namespace {

using transport::Arrival;
using transport::CloseReason;
using transport::Message;
using transport::Offer;
using transport::Opcode;
using transport::Slice;

// The port of the endpoint that makes the offer. One for datagrams has a number instead.
std::uint16_t port_of(const Offer& offer) {
  if ((offer.features & transport::kDatagrams) == 0 || offer.address.port != 0) return offer.address.port;
  return static_cast<std::uint16_t>(1 + queue_pair_number(offer));
}

// A live capture gives each connection a number, because queue pairs may have been made long before and ports come
// again.
transport::Address initiator_of(const Offer& request, std::uint16_t number) {
  return request.address.with_port(shown_port(number != 0 ? number : port_of(request)));
}

transport::Address responder_of(const transport::Address& address, const Offer& request) {
  return address.with_port(shown_port(request.service_id));
}

// A placed send is captured as the send that it stands for.
Message as_sent(const Message& message) {
  Message sent = message;
  if (message.opcode == Opcode::kSendPlaced) sent.opcode = Opcode::kSend;
  if (message.opcode == Opcode::kSendPlacedSolicited) sent.opcode = Opcode::kSendSolicited;
  return sent;
}

bool is_placed(Opcode opcode) {
  return opcode == Opcode::kSendPlaced || opcode == Opcode::kSendPlacedSolicited;
}

// Ports of the first half of all are shown as those of the second, so numbers of it stay distinct.
std::uint16_t next_number(const Place& place) {
  if (place.connections == nullptr) return 0;
  constexpr std::uint32_t kNumbers = 32767;
  return static_cast<std::uint16_t>(1 + place.connections->fetch_add(1, std::memory_order_relaxed) % kNumbers);
}

}  // namespace

ConnectionCapture::ConnectionCapture(const Place& place) : place_(place), number_(next_number(place)) {}

template <typename Body>
void ConnectionCapture::capture(Body body) {
  try {
    body();
  } catch (const std::bad_alloc&) {
    // A capture never disturbs what it shows: without memory the packet is counted as dropped.
    place_.recorder.count_drop(place_.interface);
  }
}

void ConnectionCapture::ask(const transport::Address& remote, const Offer& request) {
  is_initiator_ = true;
  remote_ = remote;
  request_ = request;
  asked_ = now();
}

void ConnectionCapture::answer(const Offer& request, const Offer& reply) {
  request_ = request;
  reply_ = reply;
  asked_ = now();
}

transport::Address ConnectionCapture::initiator_of_this() const {
  return initiator_of(request_, number_);
}

void ConnectionCapture::on_established(const Offer& peer, transport::Features features, const std::string& carrier) {
  capture([&] { capture_established(peer, features, carrier); });
}

void ConnectionCapture::capture_established(const Offer& peer, transport::Features features,
                                            const std::string& carrier) {
  const Offer& reply = is_initiator_ ? peer : reply_;
  const transport::Address& known = reply.address.is_set() ? reply.address : remote_;
  const transport::Address responder = responder_of(known, request_);
  const transport::Address initiator = initiator_of_this();
  const transport::Address& own = is_initiator_ ? initiator : responder;
  const std::uint16_t port = port_of(is_initiator_ ? request_ : reply_);
  stream_.emplace(place_, own, is_initiator_ ? responder : initiator, port, is_initiator_);
  stream_->begin(request_, asked_, carrier.c_str());
  stream_->accept(request_, reply, features, is_initiator_ ? now() : asked_);
}

void ConnectionCapture::on_refused(transport::Refusal reason, std::span<const std::byte> private_data) {
  capture([&] { capture_refused(reason, private_data); });
}

void ConnectionCapture::capture_refused(transport::Refusal reason, std::span<const std::byte> private_data) {
  Stream stream(place_, initiator_of_this(), responder_of(remote_, request_), port_of(request_), true);
  if (reason != transport::Refusal::kByConsumer) {
    return stream.ask_in_vain(request_, asked_, reason != transport::Refusal::kUnreachable);
  }
  stream.begin(request_, asked_, "");
  stream.reject(request_, private_data);
}

void ConnectionCapture::on_sent(const Message& message, transport::PayloadSource* payload, Stamp before) {
  if (stream_) capture([&] { stream_->send(as_sent(message), payload, before); });
}

void ConnectionCapture::on_terminate(const transport::TerminateCode& code) {
  if (!stream_) return;
  capture([&] {
    stream_->terminate(Way::kOut, code);
    stream_->finish(Way::kOut);
  });
}

void ConnectionCapture::on_close() {
  if (stream_) capture([&] { stream_->finish(Way::kOut); });
}

void ConnectionCapture::on_cut() {
  if (stream_) capture([&] { stream_->reset(Way::kOut); });
}

void ConnectionCapture::on_closed(CloseReason reason, const transport::TerminateCode& code) {
  if (stream_) capture([&] { capture_closed(reason, code); });
}

// Shown as TCP would show it: an orderly end as FIN both ways, a loss as resets, a Terminate before the FIN of its
// sender.
void ConnectionCapture::capture_closed(CloseReason reason, const transport::TerminateCode& code) {
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

void ConnectionCapture::on_arrival(const Arrival& arrival) {
  if (!stream_) return;
  if (arrival.message_offset == 0) {
    arrived_.start();
    arrived_.is_begun = true;
  }
  if (!arrived_.is_begun) return;
  const Message message = {.opcode = arrival.opcode,
                           .length = UINT32_MAX,
                           .stag = arrival.stag,
                           .offset = arrival.offset - arrival.message_offset};
  capture([&] { take_placed(arrival.message_offset, message); });
  // The bytes are not there yet. They are copied when the next piece or the end of the message shows that the carrier
  // has placed them.
  arrived_.placing_at = arrival.message_offset;
  arrived_.placing.clear();
}

void ConnectionCapture::on_placement(std::span<const Slice> slices) {
  if (stream_ && arrived_.is_begun) capture([&] { arrived_.placing.assign(slices.begin(), slices.end()); });
}

// The carrier has copied the message up to byte `until`. Bytes that it was not given a place for are not known.
void ConnectionCapture::take_placed(std::uint64_t until, const Message& message) {
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

void ConnectionCapture::append(const std::byte* from, std::size_t length, const Message& message) {
  const std::size_t most = std::min(place_.recorder.snap_length(), kMostPayload);
  while (length > 0) {
    if (arrived_.length == kMostPayload) put_arrived(message);
    const std::size_t part = std::min(length, kMostPayload - arrived_.length);
    const bool is_next = arrived_.known == arrived_.length && arrived_.length < most;
    // Only bytes in one run from the beginning of the part are shown; the snap length bounds them.
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

void ConnectionCapture::put_arrived(const Message& message) {
  const Slice seen{arrived_.bytes.data(), arrived_.known};
  stream_->add(Way::kIn, message, {.offset = arrived_.offset, .length = arrived_.length, .bytes = std::span(&seen, 1)},
               now());
  arrived_.offset += static_cast<std::uint32_t>(arrived_.length);
  arrived_.length = arrived_.known = 0;
}

// A placed send whose bytes came just before the capture began has no bytes to show.
void ConnectionCapture::on_message(const Message& message) {
  if (!stream_) return;
  const bool is_whole = !carries_payload(message.opcode) || std::exchange(arrived_.is_begun, false);
  if (is_placed(message.opcode) || !is_whole) return place_.recorder.count_drop(place_.interface);
  capture([&] { capture_message(message); });
}

void ConnectionCapture::capture_message(const Message& message) {
  take_placed(payload_length(message), message);
  put_arrived(message);
  arrived_.start();
}

// The request never had a channel here, so its stream is made of the request alone.
void capture_reject(const Place& place, const Offer& request, std::span<const std::byte> private_data) {
  try {
    Stream stream(place, responder_of(place.address, request), initiator_of(request, next_number(place)), 0, false);
    stream.begin(request, now(), "");
    stream.reject(request, private_data);
  } catch (const std::bad_alloc&) {
    place.recorder.count_drop(place.interface);
  }
}

}  // namespace softdat::simnic::capture
