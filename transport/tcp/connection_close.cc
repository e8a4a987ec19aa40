// SPDX-License-Identifier: BSD-2-Clause
// How a connection ends: by us, by the peer, by the network.
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "transport/tcp/connection.h"
#include "transport/tcp/socket.h"

namespace softdat::transport::tcp {

void Connection::close(CloseMode mode) {
  const SharedConnection self = shared_from_this();
  if (state_ == State::kDraining) return;
  if (tap_ && sink_ != nullptr) tap_->on_close();
  is_prompt_ = mode != CloseMode::kOrderly;
  sink_ = nullptr;
  if (!is_receiving()) return end();
  if (verdict_) return end_with(*verdict_, {});
  // In mid-FPDU nothing can be said any more: the rest of it is the consumer's, and is not coming.
  if (agreement_.is_own && outbound_.is_at_border()) outbound_.append_note(NoteKind::kBye, 0);
  drain();
}

void Connection::terminate(const TerminateCode& code) {
  if (state_ != State::kOpen || verdict_) return close(CloseMode::kAbrupt);
  const SharedConnection self = shared_from_this();
  if (tap_ && sink_ != nullptr) tap_->on_terminate(code);
  sink_ = nullptr;
  terminate_with(code, CloseReason::kProtocolError);
}

void Connection::terminate_with(const TerminateCode& code, CloseReason reason) {
  const SharedConnection self = shared_from_this();
  is_prompt_ = true;
  ChannelSink* const sink = std::exchange(sink_, nullptr);
  if (outbound_.is_at_border()) {
    outbound_.append_terminate(make_terminate(code, inbound_.segment_length(), inbound_.segment_head()));
  }
  drain();
  tell_closed(sink, reason, code);
}

void Connection::end_with(CloseReason reason, const TerminateCode& code) {
  const SharedConnection self = shared_from_this();
  ChannelSink* const sink = std::exchange(sink_, nullptr);
  end();
  tell_closed(sink, reason, code);
}

void Connection::tell_closed(ChannelSink* sink, CloseReason reason, const TerminateCode& code) {
  hub_.note_done();
  if (sink == nullptr) return;
  if (is_established_) return sink->on_closed(reason, code);
  // Agreed, but never begun.
  if (side_ == Side::kInitiator) return sink->on_refused(Refusal::kUnreachable, {});
  sink->on_closed(CloseReason::kLost, {});
}

// Everything that was taken goes out, then our FIN; then the peer's is waited for, so that nothing
// of ours is lost to a reset.
void Connection::drain() {
  sink_ = nullptr;
  is_blocked_ = false;
  advance(Event::kDrain);
  hub_.forget_half_open(*this);
  hub_.timers().set_after(*this, hub_.options().linger);
  hub_.note_work();
  continue_draining();
}

void Connection::continue_draining() {
  switch (outbound_.flush(fd_.get())) {
    case WriteStatus::kDone:
      if (has_peer_ended_) return end();
      ::shutdown(fd_.get(), SHUT_WR);
      // What may have been read as a message before is now read to be dropped.
      return hub_.note_unarmed(shared_from_this());
    case WriteStatus::kBlocked:
      return want_write();
    default:
      return end();
  }
}

bool Connection::read_and_drop() {
  static constexpr std::size_t kScratch = 1024;  // on the stack of a thread that polls
  if (has_peer_ended_) return false;
  std::array<std::byte, kScratch> scratch;
  for (int i = 0; i < 128; ++i) {
    const ssize_t got = ::recv(fd_.get(), scratch.data(), scratch.size(), MSG_DONTWAIT);
    if (got > 0) hub_.note_done();
    if (got > 0) continue;
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return i > 0;
    // The peer has nothing more for us and, once we have nothing more for it either, that is all.
    has_peer_ended_ = true;
    if (got < 0 || outbound_.is_flushed()) end();
    return true;
  }
  return true;
}

void Connection::finish(base::Time orderly, base::Time prompt) {
  const SharedConnection self = shared_from_this();
  if (state_ == State::kDraining) bring_out(is_prompt_ ? prompt : orderly);
  end_with_reset();
}

bool Connection::has_unsent() const {
  return state_ == State::kDraining && !(outbound_.is_flushed() && outbound_.is_at_border());
}

// A stream that lacks its end is of no use to the peer. The reset frees what the kernel would keep for it, for as long
// as a stopped peer takes nothing. A stream that the kernel has whole it delivers without us.
void Connection::end_with_reset() {
  if (has_unsent()) reset_at_once();
  end();
}

void Connection::reset_at_once() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  static_cast<void>(::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once));
}

void Connection::cut() {
  const SharedConnection self = shared_from_this();
  if (tap_ && sink_ != nullptr) tap_->on_cut();
  sink_ = nullptr;
  if (fd_) reset_at_once();
  end();
}

void Connection::cut_within(const Message& message, PayloadSource* payload) {
  if (state_ == State::kOpen && !verdict_) outbound_.send_part(fd_.get(), message, payload);
  cut();
}

// Until the kernel has sent all of it and nothing unread is left, which would make it reset. What the peer has not
// acknowledged by then the kernel goes on to repeat without us.
void Connection::bring_out(base::Time deadline) {
  while (base::Clock::now() < deadline) {
    read_and_drop();
    if (state_ != State::kDraining) return;
    if (outbound_.is_flushed() && bytes_unsent(fd_.get()) == 0) return;
    // Nobody tells when the kernel has sent: it is asked now and then.
    const int events = (outbound_.is_flushed() ? 0 : POLLOUT) | (has_peer_ended_ ? 0 : POLLIN);
    pollfd entry{.fd = fd_.get(), .events = static_cast<short>(events), .revents = 0};
    ::poll(&entry, 1, 10);
    if (!outbound_.is_flushed()) continue_draining();
    if (state_ != State::kDraining) return;
  }
}

}  // namespace softdat::transport::tcp
