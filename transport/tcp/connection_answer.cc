// SPDX-License-Identifier: BSD-2-Clause
// The responder's handshake: hear the request, let the consumer answer.
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "transport/tcp/connection.h"
#include "transport/tcp/request.h"
#include "transport/tcp/socket.h"

namespace softdat::transport::tcp {

void Connection::welcome(Hub& hub, base::UniqueFd fd, const SharedPort& port) {
  SharedConnection connection;
  try {
    connection = std::make_shared<Connection>(hub);
    connection->await_request(std::move(fd), port);
  } catch (const std::bad_alloc&) {
    if (connection) connection->end();
  }
}

void Connection::await_request(base::UniqueFd fd, const SharedPort& port) {
  const SharedConnection self = shared_from_this();
  side_ = Side::kResponder;
  state_ = State::kAwaitingRequest;
  port_ = port;
  fd_ = std::move(fd);
  if (!open_watch()) return;
  hub_.enlist(self);
  hub_.enlist_half_open(*this, remote_address(fd_.get()));
  hub_.timers().set_after(*this, hub_.options().request_timeout);
  hub_.note_unarmed(self);
  try_read();
}

void Connection::on_request(const MpaFrame& request) {
  hub_.forget_half_open(*this);
  cancel_timer();
  hub_.note_done();
  request_ = request;
  const RequestReading reading = read_request(request, port_->service_id, port_->port);
  peer_ = reading.peer;
  agreement_.is_own = reading.is_own;
  if (reading.verdict != Verdict::kNone) return refuse(reading.verdict, {});
  const bool is_full = port_->unanswered >= port_->backlog;
  if (port_->sink == nullptr || is_full) return refuse(Verdict::kNoListener, {});
  if (!peer_.address.is_set()) peer_.address = remote_address(fd_.get()).with_port(peer_.address.port);
  advance(Event::kRequest);
  is_unanswered_ = true;
  ++port_->unanswered;
  port_->sink->on_request(std::make_unique<Request>(shared_from_this()));
}

void Connection::note_answered() {
  if (std::exchange(is_unanswered_, false)) --port_->unanswered;
}

// Between request and answer an initiator has nothing to say (RFC 5044 section 7.1): whatever can
// be read is its end, or a breach.
bool Connection::look_whether_gone() {
  std::byte byte{};
  const ssize_t got = ::recv(fd_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  hub_.note_done();
  end();
  return true;
}

bool Connection::accept(const Offer& reply, ChannelSink& sink) {
  if (!is_requested() || look_whether_gone()) return false;
  const SharedConnection self = shared_from_this();
  agreement_ = agree(hub_.options(), request_, agreement_.is_own, peer_.features & reply.features);
  // Whatever takes memory comes before the answer, which cannot be taken back.
  const auto frame = encode_mpa_frame(make_reply(agreement_, request_, reply));
  offer_ = reply;
  start_streams();
  if (!write_frame(fd_.get(), frame)) {
    end();
    return false;
  }
  note_answered();
  sink_ = &sink;
  if (hub_.tapper() != nullptr) join_tap(*hub_.tapper());
  const bool is_peer_to_peer = agreement_.rtr != 0;
  advance(is_peer_to_peer ? Event::kConfirm : Event::kHold);
  hub_.timers().set_after(*this, is_peer_to_peer ? hub_.options().confirm_timeout : hub_.options().responder_hold);
  hub_.note_work();
  return true;
}

void Connection::refuse(Verdict verdict, const Offer& answer) {
  if (state_ != State::kRequested && state_ != State::kAwaitingRequest) return;
  const SharedConnection self = shared_from_this();
  note_answered();
  if (!write_frame(fd_.get(), encode_mpa_frame(make_refusal(request_, verdict, answer)))) return end();
  drain();
}

}  // namespace softdat::transport::tcp
