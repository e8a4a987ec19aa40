// SPDX-License-Identifier: BSD-2-Clause
// What both sides of a handshake have in common: reading a frame, and opening the streams.
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "transport/tcp/connection.h"
#include "transport/tcp/fpdu.h"
#include "transport/tcp/neighbours.h"
#include "transport/tcp/socket.h"

namespace softdat::transport::tcp {
namespace {

// How long the frame is, as far as what has come of it tells.
base::Result<std::size_t, MpaFault> frame_size(MpaFrameKind kind, std::span<const std::byte> so_far) {
  if (so_far.size() < kMpaHeaderSize) return kMpaHeaderSize;
  const auto length = decode_mpa_length(kind, so_far);
  if (!length.ok()) return base::Failure{length.reason()};
  return kMpaHeaderSize + length.value();
}

}  // namespace

// Takes no byte beyond the frame off the socket. True when some came.
bool Connection::read_frame(MpaFrameKind kind) {
  bool has_moved = false;
  for (;;) {
    const auto size = frame_size(kind, frame_);
    if (!size.ok()) {
      on_frame_broken(Refusal::kProtocol);
      return true;
    }
    const std::size_t have = frame_.size();
    if (have >= kMpaHeaderSize && have == size.value()) {
      on_frame(kind);
      return true;
    }
    frame_.resize(size.value());
    const ssize_t got = ::recv(fd_.get(), frame_.data() + have, size.value() - have, MSG_DONTWAIT);
    frame_.resize(have + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return has_moved;
    if (got <= 0) {
      // A reset is what a listener's kernel says for it when it goes with us in its queue.
      const bool is_reset = got < 0 && errno == ECONNRESET;
      on_frame_broken(is_reset ? Refusal::kNoListener : Refusal::kUnreachable);
      return true;
    }
    has_moved = true;
  }
}

void Connection::on_frame(MpaFrameKind kind) {
  const auto frame = decode_mpa_frame(kind, frame_);
  frame_.clear();
  if (!frame.ok()) return on_frame_broken(Refusal::kProtocol);
  return kind == MpaFrameKind::kRequest ? on_request(frame.value()) : on_reply(frame.value());
}

// A foreign program may have a port of the id's sequence. A handshake that it breaks says nothing about the service.
void Connection::on_frame_broken(Refusal reason) {
  hub_.note_done();
  if (side_ == Side::kResponder) return end();
  try_elsewhere(is_port_of_service() ? reason : Refusal::kNoListener);
}

void Connection::start_streams() {
  const bool is_own = agreement_.is_own;
  const bool knows_voids = (agreement_.features & kVoids) != 0;
  const bool acks_ride = is_own && (agreement_.features & kRidingAcks) != 0;
  inbound_.start({.has_crc = agreement_.has_crc,
                  .knows_notes = is_own,
                  .expects_rtr = side_ == Side::kResponder && agreement_.rtr != 0,
                  .knows_voids = knows_voids,
                  .acks_ride = acks_ride});
  const std::size_t largest = hub_.options().max_payload + kTaggedHeadSize;
  outbound_.start({.has_crc = agreement_.has_crc,
                   .is_one_by_one = !is_own,
                   .knows_notes = is_own,
                   .knows_voids = knows_voids,
                   .acks_ride = acks_ride,
                   .max_ulpdu = is_own ? largest : std::min(largest, ulpdu_within(segment_size(fd_.get())))});
}

// From now on the peer may hear from us.
void Connection::release_hold() {
  if (side_ == Side::kInitiator && agreement_.rtr != 0) {
    outbound_.append_ready_to_receive();
    if (outbound_.flush(fd_.get()) == WriteStatus::kBlocked) want_write();
  }
  open();
  const bool may_sleep = side_ == Side::kInitiator && !agreement_.is_own;
  if (may_sleep && state_ == State::kOpen) hub_.timers().set_after(*this, hub_.options().first_nudge);
}

// Some responders sleep on what came before they had installed their receiver, until more comes. A Write of no bytes is
// more, and means nothing (RFC 5040 does not even let its STag be looked at).
void Connection::nudge() {
  constexpr int kMostNudges = 4;
  if (inbound_.has_heard() || nudges_ == kMostNudges) return;
  if (outbound_.is_idle()) {
    outbound_.append_ready_to_receive();
    const WriteStatus status = outbound_.flush(fd_.get());
    if (status == WriteStatus::kBlocked) want_write();
    if (status == WriteStatus::kLost) fail_later(CloseReason::kLost);
  }
  ++nudges_;
  hub_.timers().set_after(*this, hub_.options().first_nudge * (1 << (2 * nudges_)));
}

void Connection::warn_of_neighbour() const {
  if ((agreement_.features & kNeighbours) == 0) return;
  if (side_ == Side::kInitiator) return warn_of_served_neighbour(remote_.with_port(0), offer_.service_id);
  warn_of_asking_neighbour(peer_.address.with_port(0));
}

void Connection::join_tap(Tapper& tapper) {
  if (sink_ == nullptr || tap_) return;
  constexpr const char* kName = "tcp";
  if (is_established_) {
    const bool is_initiator = side_ == Side::kInitiator;
    return tap_.open(tapper.on_running({.is_initiator = is_initiator,
                                        .own = offer_.address,
                                        .remote = peer_.address,
                                        .service_id = is_initiator ? offer_.service_id : peer_.service_id,
                                        .features = agreement_.features,
                                        .carrier_name = kName},
                                       *sink_),
                     sink_);
  }
  tap_.open(side_ == Side::kInitiator ? tapper.on_connect(remote_, offer_, kName, *sink_)
                                      : tapper.on_accept(peer_, offer_, kName, *sink_),
            sink_);
}

void Connection::note_reject(std::span<const std::byte> private_data) {
  if (hub_.tapper() != nullptr) hub_.tapper()->on_reject(peer_, private_data);
}

void Connection::open() {
  const SharedConnection self = shared_from_this();
  advance(Event::kOpen);
  cancel_timer();
  is_established_ = true;
  hub_.note_done();
  hub_.note_active(self);
  warn_of_neighbour();
  sink_->on_established(peer_);
  // Who was told to wait while there was no connection yet.
  if (state_ == State::kOpen && is_blocked_) hub_.defer(self);
}

}  // namespace softdat::transport::tcp
