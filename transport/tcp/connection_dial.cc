// SPDX-License-Identifier: BSD-2-Clause
// The initiator's handshake: find the port that serves the id, ask, obey the answer.
#include <algorithm>
#include <cerrno>
#include <utility>

#include "transport/tcp/connection.h"
#include "transport/tcp/fault.h"
#include "transport/tcp/service_port.h"
#include "transport/tcp/socket.h"

namespace softdat::transport::tcp {
namespace {

// Whether another port of the same host could do better.
bool is_about_the_port(int error) {
  return error == ECONNREFUSED || error == ECONNRESET;
}

}  // namespace

SharedConnection Connection::prepare(Hub& hub, const Address& remote, const Offer& offer, ChannelSink& sink) {
  const auto connection = std::make_shared<Connection>(hub);
  connection->remote_ = remote;
  connection->offer_ = offer;
  connection->sink_ = &sink;
  connection->ports_ = ports_of(offer.service_id);
  std::reverse(connection->ports_.begin(), connection->ports_.end());
  return connection;
}

void Connection::dial() {
  hub_.enlist(shared_from_this());
  dial_next();
}

void Connection::dial_next() {
  while (!ports_.empty()) {
    remote_.port = ports_.back();
    ports_.pop_back();
    auto started = start_connect(hub_.options(), remote_);
    if (started.ok()) {
      fd_ = std::move(started).value();
      if (open_watch()) return is_connect_over(fd_.get()) ? on_dialed() : want_write();
      close_socket();
    }
    if (started.ok() || !is_about_the_port(started.reason())) {
      best_refusal_ = Refusal::kUnreachable;
      ports_.clear();
    }
  }
  // The sink hears it from a turn, never from within connect().
  refusal_ = best_refusal_;
  hub_.defer(shared_from_this());
}

void Connection::on_dialed() {
  const int error = finish_connect(fd_.get(), remote_);
  if (error == 0) {
    request_ = make_request(hub_.options(), offer_);
    if (!write_frame(fd_.get(), encode_mpa_frame(request_))) return try_elsewhere(Refusal::kNoListener);
    advance(Event::kConnected);
    hub_.note_done();
    return arm();
  }
  if (!is_about_the_port(error)) {
    ports_.clear();
    return try_elsewhere(Refusal::kUnreachable);
  }
  try_elsewhere(Refusal::kNoListener);
}

void Connection::try_elsewhere(Refusal reason) {
  if (reason != Refusal::kNoListener) best_refusal_ = reason;
  advance(Event::kRedial);
  close_socket();
  frame_.clear();
  hub_.note_done();
  dial_next();
}

void Connection::give_up(Refusal reason, std::span<const std::byte> private_data) {
  ChannelSink* const sink = std::exchange(sink_, nullptr);
  end();
  hub_.note_done();
  if (sink != nullptr) sink->on_refused(reason, private_data);
}

void Connection::on_reply(const MpaFrame& reply) {
  const ReplyReading reading = read_reply(reply, request_, offer_, is_port_of_service());
  switch (reading.meaning) {
    case ReplyReading::Meaning::kYes:
      peer_ = reading.peer;
      agreement_ = reading.agreement;
      return begin_as_initiator();
    case ReplyReading::Meaning::kRefused:
      return give_up(reading.refusal, reading.peer.private_data);
    case ReplyReading::Meaning::kWrongService:
      return try_elsewhere(Refusal::kNoListener);
    case ReplyReading::Meaning::kNoRtr:
      start_streams();
      return refuse_reply(fault::kNoMatchingRtr);
  }
}

void Connection::begin_as_initiator() {
  if (!peer_.address.is_set()) peer_.address = remote_.with_port(peer_.address.port);
  start_streams();
  advance(Event::kHold);
  if (agreement_.is_own) return release_hold();
  hub_.timers().set_after(*this, hub_.options().initiator_hold);
}

// RFC 6581 section 8: what the responder agreed to cannot be begun; it is told.
void Connection::refuse_reply(const TerminateCode& code) {
  ChannelSink* const sink = std::exchange(sink_, nullptr);
  outbound_.append_terminate(make_terminate(code, 0, {}));
  drain();
  hub_.note_done();
  sink->on_refused(Refusal::kProtocol, {});
}

}  // namespace softdat::transport::tcp
