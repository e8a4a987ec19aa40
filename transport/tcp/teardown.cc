// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/teardown.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "transport/tcp/socket.h"

namespace softdat::transport::tcp {

void Teardown::close(CloseMode mode) {
  const SharedConnection self = base_.hold();
  if (base_.state() == State::kDraining) return;
  if (ChannelTap* const tap = base_.owner().tap()) tap->on_close();
  is_prompt_ = mode != CloseMode::kOrderly;
  base_.owner().detach();
  if (!base_.is_receiving()) return base_.end();
  if (has_verdict()) return carry_out_verdict();
  // In mid-FPDU nothing can be said any more: the rest of it is the consumer's, and is not coming.
  if (terms_.agreement.is_own && stream_.is_at_border()) stream_.append_note(NoteKind::kBye, 0);
  drain();
}

void Teardown::cut() {
  const SharedConnection self = base_.hold();
  if (ChannelTap* const tap = base_.owner().tap()) tap->on_cut();
  // SO_LINGER of 0: close() sends a reset, as if the host had lost the connection.
  base_.socket().reset_on_close();
  base_.end();
}

void Teardown::terminate(const Terminate& terminate) {
  const SharedConnection self = base_.hold();
  is_prompt_ = true;
  ChannelSink* const sink = base_.owner().detach();
  if (stream_.is_at_border()) stream_.append_terminate(terminate);
  drain();
  tell_closed(sink, CloseReason::kProtocolError, terminate.code);
}

void Teardown::refuse_reply(const Terminate& terminate) {
  const SharedConnection self = base_.hold();
  ChannelSink* const sink = base_.owner().detach();
  stream_.append_terminate(terminate);
  drain();
  base_.hub().note_done();
  if (sink != nullptr) sink->on_refused(Refusal::kProtocol, {});
}

void Teardown::end_with(CloseReason reason, const TerminateCode& code) {
  const SharedConnection self = base_.hold();
  ChannelSink* const sink = base_.owner().detach();
  base_.end();
  tell_closed(sink, reason, code);
}

void Teardown::give_up(Refusal reason, std::span<const std::byte> private_data) {
  const SharedConnection self = base_.hold();
  ChannelSink* const sink = base_.owner().detach();
  base_.end();
  base_.hub().note_done();
  if (sink != nullptr) sink->on_refused(reason, private_data);
}

void Teardown::lose_later() {
  is_lost_ = true;
  base_.hub().defer(base_);
}

void Teardown::give_up_later(Refusal reason) {
  refusal_ = reason;
  base_.hub().defer(base_);
}

void Teardown::carry_out_verdict() {
  if (refusal_) return give_up(*refusal_, {});
  if (is_lost_) lose();
}

void Teardown::tell_closed(ChannelSink* sink, CloseReason reason, const TerminateCode& code) {
  base_.hub().note_done();
  if (sink == nullptr) return;
  if (base_.owner().is_established()) return sink->on_closed(reason, code);
  // Agreed, but never begun.
  if (terms_.is_initiator) return sink->on_refused(Refusal::kUnreachable, {});
  sink->on_closed(CloseReason::kLost, {});
}

void Teardown::drain() {
  base_.owner().detach();
  base_.advance(Event::kDrain);
  base_.hub().connections().remove_half_open(base_);
  base_.set_timer(base_.options().linger);
  base_.hub().note_work();
  continue_draining();
}

void Teardown::continue_draining() {
  switch (stream_.flush(base_.socket().fd())) {
    case WriteStatus::kDone:
      if (base_.socket().has_peer_ended()) return base_.end();
      ::shutdown(base_.socket().fd(), SHUT_WR);
      // From now on bytes of the peer are read only to be dropped.
      return base_.hub().note_unarmed(base_);
    case WriteStatus::kBlocked:
      return base_.socket().want_write();
    default:
      return base_.end();
  }
}

bool Teardown::read_and_drop() {
  static constexpr std::size_t kScratch = 1024;  // on the stack of a thread that polls
  if (base_.socket().has_peer_ended()) return false;
  std::array<std::byte, kScratch> scratch;
  for (int i = 0; i < 128; ++i) {
    const ssize_t got = ::recv(base_.socket().fd(), scratch.data(), scratch.size(), MSG_DONTWAIT);
    if (got > 0) base_.hub().note_done();
    if (got > 0) continue;
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return i > 0;
    // The peer has nothing more for us and, once we have nothing more for it either, that is all.
    base_.socket().note_peer_ended();
    if (got < 0 || stream_.is_flushed()) base_.end();
    return true;
  }
  return true;
}

// A stream that lacks its end is of no use to the peer. The reset frees what the kernel would keep for it, for as long
// as a stopped peer takes nothing. A stream that the kernel has whole it delivers without us.
void Teardown::end_draining() {
  const bool has_unsent = !stream_.is_flushed() || !stream_.is_at_border();
  if (base_.state() == State::kDraining && has_unsent) base_.socket().reset_on_close();
  base_.end();
}

void Teardown::finish(base::Time orderly, base::Time prompt) {
  const SharedConnection self = base_.hold();
  if (base_.state() == State::kDraining) bring_out(is_prompt_ ? prompt : orderly);
  end_draining();
}

// Until the kernel has sent all of it and nothing unread is left, which would make it reset. What the peer has not
// acknowledged by then the kernel goes on to repeat without us.
void Teardown::bring_out(base::Time deadline) {
  while (base::Clock::now() < deadline) {
    read_and_drop();
    if (base_.state() != State::kDraining) return;
    const int fd = base_.socket().fd();
    if (stream_.is_flushed() && bytes_unsent(fd) == 0) return;
    // Nobody tells when the kernel has sent: it is asked now and then.
    const int events = (stream_.is_flushed() ? 0 : POLLOUT) | (base_.socket().has_peer_ended() ? 0 : POLLIN);
    pollfd entry{.fd = fd, .events = static_cast<short>(events), .revents = 0};
    ::poll(&entry, 1, 10);
    if (!stream_.is_flushed()) continue_draining();
    if (base_.state() != State::kDraining) return;
  }
}

}  // namespace softdat::transport::tcp
