// SPDX-License-Identifier: BSD-2-Clause
// What a connection is from its first packet to its last: states, readiness, time.
#include "transport/tcp/connection.h"

#include <new>
#include <utility>

#include "base/assert.h"

namespace softdat::transport::tcp {

Connection::Connection(Hub& hub) : hub_(hub), inbound_(hub.pool(), *this), outbound_(hub.pool()) {}

Connection::~Connection() = default;

void Connection::advance(Event event) {
  const Step next = step_of(state_, event);
  base::check(next.has_value(), "a step of the connection's table", static_cast<std::uint64_t>(state_),
              static_cast<std::uint64_t>(event));
  state_ = *next;
}

bool Connection::open_watch() {
  watch_ = hub_.reactor().watch(fd_.get(), *this);
  return watch_ != nullptr;
}

void Connection::close_socket() {
  if (std::exchange(is_write_wanted_, false)) hub_.note_blocked_writer(-1);
  watch_.reset();
  fd_.reset();
}

void Connection::end() {
  if (state_ == State::kClosed) return;
  advance(Event::kEnd);
  sink_ = nullptr;
  cancel_timer();
  close_socket();
  note_answered();
  outbound_.abandon();
  inbound_.abandon();
  hub_.forget(shared_from_this());
}

void Connection::abandon() {
  end();
}

void Connection::on_peer_dead() {
  const bool is_connecting = state_ == State::kDialing || state_ == State::kAwaitingReply;
  if (!is_connecting) return lose();
  try {
    ports_.clear();
    try_elsewhere(Refusal::kUnreachable);
  } catch (const std::bad_alloc&) {
    lose();
  }
}

void Connection::arm() {
  if (!watch_ || state_ == State::kDialing || has_peer_ended_) return;
  watch_->want(kReadable);
}

void Connection::want_write() {
  if (!std::exchange(is_write_wanted_, true)) hub_.note_blocked_writer(1);
  watch_->want(kWritable);
}

// Want of memory costs the connection, not the thread whose turn it is: so here, in on_due(), on_timer() and
// try_read(), through which all turns come in.
void Connection::on_ready(std::uint32_t readiness) {
  const SharedConnection self = shared_from_this();
  try {
    heed_readiness(readiness);
  } catch (const std::bad_alloc&) {
    lose();
  }
}

void Connection::heed_readiness(std::uint32_t readiness) {
  if ((readiness & kWritable) != 0) {
    if (std::exchange(is_write_wanted_, false)) hub_.note_blocked_writer(-1);
    on_writable();
  }
  if ((readiness & kReadable) != 0 && state_ != State::kClosed) {
    hub_.note_unarmed(shared_from_this());
    if (try_read() && is_receiving()) hub_.note_active(shared_from_this());
  }
}

void Connection::on_writable() {
  if (state_ == State::kDialing) return on_dialed();
  if (state_ == State::kDraining) return continue_draining();
  if (state_ != State::kOpen) return;
  flush();
  if (state_ != State::kOpen || is_write_wanted_) return;
  hub_.note_done();
  if (std::exchange(is_blocked_, false)) sink_->on_writable();
}

bool Connection::try_read() try { return read_what_comes(); } catch (const std::bad_alloc&) {
  lose();
  return true;
}

bool Connection::read_what_comes() {
  switch (state_) {
    case State::kAwaitingReply:
      return read_frame(MpaFrameKind::kReply);
    case State::kAwaitingRequest:
      return read_frame(MpaFrameKind::kRequest);
    case State::kRequested:
      return look_whether_gone();
    case State::kConfirming:
    case State::kHolding:
    case State::kOpen:
      return read_stream();
    case State::kDraining:
      return read_and_drop();
    case State::kDialing:
    case State::kClosed:
      return false;
  }
  return false;
}

// What could not be said or done within the owner's own call.
void Connection::on_due() try {
  if (state_ == State::kClosed || state_ == State::kDraining) return;
  if (refusal_) return give_up(*refusal_, {});
  if (state_ == State::kOpen && std::exchange(is_blocked_, false)) {
    hub_.note_done();
    sink_->on_writable();
  }
  if (is_receiving()) try_read();
  // There may be more to read than one turn reads.
  if (verdict_ && is_receiving() && !is_deferred_) end_with(*verdict_, {});
} catch (const std::bad_alloc&) {
  lose();
}

void Connection::on_timer() {
  const SharedConnection self = shared_from_this();
  try {
    heed_deadline();
  } catch (const std::bad_alloc&) {
    lose();
  }
}

void Connection::heed_deadline() {
  switch (state_) {
    case State::kHolding:
      return release_hold();
    case State::kConfirming:
      return end_with(CloseReason::kLost, {});
    case State::kOpen:
      return nudge();
    case State::kDraining:
      return end_with_reset();
    default:  // a peer that says nothing
      return end();
  }
}

}  // namespace softdat::transport::tcp
