// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/initiator_handshake.h"

#include <algorithm>
#include <cerrno>
#include <utility>

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

void InitiatorHandshake::prepare(const Address& remote, const Offer& offer) {
  terms_.remote = remote;
  terms_.own = offer;
  ports_ = ports_of(offer.service_id);
  // Taken from the back, so that trying a port never allocates.
  std::reverse(ports_.begin(), ports_.end());
}

void InitiatorHandshake::dial() {
  WatchedSocket& socket = base_.socket();
  while (!ports_.empty()) {
    terms_.remote.port = ports_.back();
    ports_.pop_back();
    auto started = start_connect(base_.options(), terms_.remote);
    if (started.ok()) {
      if (socket.open(std::move(started).value())) {
        // On the same host connect() is often over at once, and the turn through the reactor is saved.
        return is_connect_over(socket.fd()) ? on_dialed() : socket.want_write();
      }
      socket.close();
    }
    if (started.ok() || !is_about_the_port(started.reason())) {
      best_refusal_ = Refusal::kUnreachable;
      ports_.clear();
    }
  }
  // Later, in a turn: dial() may run inside of connect(), whose caller does not expect its sink yet.
  teardown_.give_up_later(best_refusal_);
}

void InitiatorHandshake::on_dialed() {
  const int fd = base_.socket().fd();
  const int error = finish_connect(fd, terms_.remote);
  if (error == 0) {
    if (base_.hub().is_served_elsewhere(terms_.remote, terms_.own)) {
      ports_.clear();
      return try_elsewhere(Refusal::kNoListener);
    }
    request_ = make_request(base_.options(), terms_.own);
    // RFC 5044 section 7.1: the initiator speaks first. A new socket takes the whole frame, or the connection is gone.
    if (!write_frame(fd, encode_mpa_frame(request_))) return try_elsewhere(Refusal::kNoListener);
    base_.advance(Event::kConnected);
    base_.hub().note_done();
    return base_.socket().want_read();
  }
  if (!is_about_the_port(error)) return on_host_dead();
  try_elsewhere(Refusal::kNoListener);
}

// Another port of a host that does not answer would only cost the timeout again.
void InitiatorHandshake::on_host_dead() {
  ports_.clear();
  try_elsewhere(Refusal::kUnreachable);
}

void InitiatorHandshake::try_elsewhere(Refusal reason) {
  if (reason != Refusal::kNoListener) best_refusal_ = reason;
  base_.advance(Event::kRedial);
  base_.socket().close();
  reader_.restart();
  base_.hub().note_done();
  dial();
}

bool InitiatorHandshake::read() {
  const auto reading = reader_.read(base_.socket().fd(), MpaFrameKind::kReply);
  if (reading.frame) on_reply(*reading.frame);
  if (reading.fault) {
    base_.hub().note_done();
    // A foreign program may have a port of the id's sequence. A handshake that it breaks says nothing about the
    // service.
    try_elsewhere(terms_.is_port_of_service() ? *reading.fault : Refusal::kNoListener);
  }
  return reading.has_moved;
}

void InitiatorHandshake::on_reply(const MpaFrame& reply) {
  const ReplyReading reading = read_reply(reply, request_, terms_.own, terms_.is_port_of_service());
  switch (reading.meaning) {
    case ReplyReading::Meaning::kYes:
      terms_.peer = reading.peer;
      terms_.agreement = reading.agreement;
      return begin();
    case ReplyReading::Meaning::kRefused:
      return teardown_.give_up(reading.refusal, reading.peer.private_data);
    case ReplyReading::Meaning::kWrongService:
      return try_elsewhere(Refusal::kNoListener);
    case ReplyReading::Meaning::kNoRtr:
      // RFC 6581 section 8: what the responder agreed to cannot be begun; it is told.
      receiver_.start();
      return teardown_.refuse_reply(make_terminate(fault::kNoMatchingRtr, 0, {}));
  }
}

void InitiatorHandshake::begin() {
  if (!terms_.peer.address.is_set()) terms_.peer.address = terms_.remote.with_port(terms_.peer.address.port);
  receiver_.start();
  // The first FPDU waits for the responder's first, or for the hold time: some responders install their receiver after
  // the reply (docs/WIRE.md, "Foreign peers").
  base_.advance(Event::kHold);
  if (terms_.agreement.is_own) return sender_.release_hold();
  base_.set_timer(base_.options().initiator_hold);
}

}  // namespace softdat::transport::tcp
