// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/connection.h"

#include <new>
#include <utility>

#include "transport/tcp/request.h"

namespace softdat::transport::tcp {

SharedConnection Connection::prepare(Hub& hub, const Address& remote, const Offer& offer, ChannelSink& sink) {
  auto connection = std::make_shared<Connection>(hub, State::kDialing);
  connection->initiator_.prepare(remote, offer);
  connection->owner().attach(sink);
  return connection;
}

void Connection::dial() {
  hub().enlist(hold());
  initiator_.dial();
}

void Connection::welcome(Hub& hub, base::UniqueFd fd, const SharedPort& port) {
  SharedConnection connection;
  try {
    connection = std::make_shared<Connection>(hub, State::kAwaitingRequest);
    if (connection->responder_.start(std::move(fd), port)) connection->try_read();
  } catch (const std::bad_alloc&) {
    // Out of memory: the connection is closed, and the peer sees its end.
    if (connection) connection->end();
  }
}

void Connection::on_end() {
  responder_.note_answered();
  stream_.abandon();
  receiver_.abandon();
}

void Connection::on_peer_dead() try {
  const bool is_connecting = state() == State::kDialing || state() == State::kAwaitingReply;
  if (is_connecting) return initiator_.on_host_dead();
  teardown_.lose();
} catch (const std::bad_alloc&) {
  teardown_.lose();
}

void Connection::arm() {
  if (state() != State::kDialing) socket().want_read();
}

void Connection::on_ready(std::uint32_t readiness) {
  const SharedConnection self = hold();
  try {
    if ((readiness & kWritable) != 0) {
      socket().note_writable();
      on_writable();
    }
    // on_writable() may have called a sink that closed this connection.
    if ((readiness & kReadable) == 0 || state() == State::kClosed) return;
    // A readiness is told once. The hub asks for the next one at the end of the turn, after all reads.
    hub().note_unarmed(*this);
    if (try_read() && is_receiving()) hub().note_active(*this);
  } catch (const std::bad_alloc&) {
    teardown_.lose();
  }
}

void Connection::on_writable() {
  if (state() == State::kDialing) return initiator_.on_dialed();
  if (state() == State::kDraining) return teardown_.continue_draining();
  if (state() == State::kOpen) sender_.on_writable();
}

bool Connection::try_read() try { return read(); } catch (const std::bad_alloc&) {
  teardown_.lose();
  return true;
}

// The state says which part reads: handshake, messages, or a connection that only drains. True: something has moved.
bool Connection::read() {
  switch (state()) {
    case State::kAwaitingReply:
      return initiator_.read();
    case State::kAwaitingRequest: {
      const bool has_moved = responder_.read();
      if (responder_.is_requested()) responder_.show(std::make_unique<Request>(hold()));
      return has_moved;
    }
    case State::kRequested:
      return responder_.look_whether_gone();
    case State::kConfirming:
    case State::kHolding:
    case State::kOpen:
      return receiver_.read();
    case State::kDraining:
      return teardown_.read_and_drop();
    case State::kDialing:
    case State::kClosed:
      return false;
  }
  return false;
}

void Connection::on_due() try {
  if (state() == State::kDialing) return teardown_.carry_out_verdict();
  sender_.on_due();
  if (is_receiving()) try_read();
  // There may be more to read than one turn reads.
  if (is_receiving() && !is_deferred()) teardown_.carry_out_verdict();
} catch (const std::bad_alloc&) {
  teardown_.lose();
}

void Connection::on_timer() {
  const SharedConnection self = hold();
  try {
    on_deadline();
  } catch (const std::bad_alloc&) {
    teardown_.lose();
  }
}

// The meaning of the one timer follows from the state.
void Connection::on_deadline() {
  // A process that has been stopped itself does not blame its peer: what has come by now counts.
  const State before = state();
  const bool is_peer_due = before == State::kAwaitingRequest || before == State::kConfirming;
  if (is_peer_due && read() && state() != before) return;
  switch (state()) {
    case State::kHolding:
      return sender_.release_hold();
    case State::kConfirming:
      return teardown_.lose();
    case State::kOpen:
      if (!receiver_.has_heard()) sender_.nudge();
      return;
    case State::kDraining:
      return teardown_.end_draining();
    default:  // a peer that says nothing
      return end();
  }
}

}  // namespace softdat::transport::tcp
