// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/message_sender.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "transport/tcp/fpdu.h"
#include "transport/tcp/neighbours.h"
#include "transport/tcp/socket.h"

namespace softdat::transport::tcp {
namespace {

void warn_of_neighbour(const Terms& terms) {
  if ((terms.agreement.features & kNeighbours) == 0) return;
  if (terms.is_initiator) return warn_of_served_neighbour(terms.remote.with_port(0), terms.own.service_id);
  warn_of_asking_neighbour(terms.peer.address.with_port(0));
}

}  // namespace

void MessageSender::start() {
  const Agreement& agreement = terms_.agreement;
  const std::size_t largest = base_.options().max_payload + kTaggedHeadSize;
  // Foreign peers get FPDUs that fit a TCP segment, as RFC 5044 section 4.5 wants it.
  const auto of_path = [&] { return std::min(largest, ulpdu_within(segment_size(base_.socket().fd()))); };
  stream_.start({.has_crc = agreement.has_crc,
                 .is_one_by_one = !agreement.is_own,
                 .knows_notes = agreement.is_own,
                 .knows_voids = (agreement.features & kVoids) != 0,
                 .acks_ride = agreement.acks_ride(),
                 .max_ulpdu = agreement.is_own ? largest : of_path()});
}

// The initiator of peer-to-peer mode must send the agreed first FPDU before the responder may send (RFC 6581).
void MessageSender::release_hold() {
  if (terms_.is_initiator && terms_.agreement.rtr != 0) {
    stream_.append_ready_to_receive();
    if (stream_.flush(base_.socket().fd()) == WriteStatus::kBlocked) base_.socket().want_write();
  }
  open();
  const bool may_sleep = terms_.is_initiator && !terms_.agreement.is_own;
  if (may_sleep && base_.state() == State::kOpen) base_.set_timer(base_.options().first_nudge);
}

void MessageSender::open() {
  // The sink may end this connection within establish().
  const SharedConnection self = base_.hold();
  base_.advance(Event::kOpen);
  base_.stop_timer();
  base_.hub().note_done();
  base_.hub().note_active(base_);
  warn_of_neighbour(terms_);
  base_.owner().establish(terms_.peer);
  // send() told the owner to wait while there was no connection yet.
  if (base_.state() == State::kOpen && is_blocked_) base_.hub().defer(base_);
}

// Some responders sleep on what came before they had installed their receiver, until more comes. A Write of no bytes is
// more, and means nothing (RFC 5040 does not even let its STag be looked at).
void MessageSender::nudge() {
  constexpr int kMostNudges = 4;
  if (nudges_ == kMostNudges) return;
  if (outbound_.is_idle()) {
    stream_.append_ready_to_receive();
    const WriteStatus status = stream_.flush(base_.socket().fd());
    if (status == WriteStatus::kBlocked) base_.socket().want_write();
    if (status == WriteStatus::kLost) teardown_.lose_later();
  }
  ++nudges_;
  base_.set_timer(base_.options().first_nudge * (1 << (2 * nudges_)));
}

SendResult MessageSender::send(const Message& message, PayloadSource* payload) {
  ChannelTap* const tap = base_.owner().tap();
  if (tap == nullptr) [[likely]]
    return send_message(message, payload);
  tap->before_send();
  const SendResult result = send_message(message, payload);
  if (result == SendResult::kDone) tap->on_sent(message, payload);
  return result;
}

// A tap sees messages that send() takes.
bool MessageSender::send_short(const ShortSend& short_send) {
  if (!is_open() || is_blocked_ || base_.socket().is_write_wanted() || base_.owner().tap() != nullptr) return false;
  return outbound_.send_short(short_send);
}

inline SendResult MessageSender::send_message(const Message& message, PayloadSource* payload) {
  base::check(message.opcode != Opcode::kTerminate, "terminate() sends a Terminate, not send()");
  // While the socket is full a further send would only fail again; on_writable() tells the owner when to go on.
  const bool is_waiting = is_blocked_ && base_.socket().is_write_wanted();
  if (!is_open() || is_waiting) return hold_back();
  return after_write(outbound_.send(base_.socket().fd(), message, payload));
}

SendResult MessageSender::hold_back() {
  const bool is_ended = base_.state() == State::kDraining || base_.state() == State::kClosed;
  if (is_ended || teardown_.has_verdict()) return SendResult::kClosed;
  is_blocked_ = true;
  return SendResult::kBlocked;
}

SendResult MessageSender::after_write(WriteStatus status) {
  switch (status) {
    case WriteStatus::kDone:
      return SendResult::kDone;
    case WriteStatus::kBlocked:
      is_blocked_ = true;
      base_.socket().want_write();
      return SendResult::kBlocked;
    // The budget of one call is used up. The connection goes on in the next turn, without waiting for the socket.
    case WriteStatus::kYielded:
      is_blocked_ = true;
      base_.hub().defer(base_);
      return SendResult::kBlocked;
    case WriteStatus::kFault:
      return SendResult::kFault;
    case WriteStatus::kFaultMidway:
      return SendResult::kFaultMidway;
    case WriteStatus::kLost:
      teardown_.lose_later();
      return SendResult::kClosed;
  }
  return SendResult::kClosed;
}

// Noted as active: an answer is likely to come soon, and is then read without the reactor.
void MessageSender::flush() {
  WatchedSocket& socket = base_.socket();
  if (!is_open()) return;
  if (socket.is_write_wanted() || stream_.is_flushed()) return;
  base_.hub().note_active(base_);
  const WriteStatus status = stream_.flush(socket.fd());
  if (status == WriteStatus::kBlocked) socket.want_write();
  if (status == WriteStatus::kLost) teardown_.lose_later();
}

void MessageSender::cut_within(const Message& message, PayloadSource* payload) {
  // Fault injection: half of an FPDU goes out, and then a reset.
  if (is_open()) outbound_.send_part(base_.socket().fd(), message, payload);
  teardown_.cut();
}

// RFC 6581 section 4.2: a Read that only says "ready" is answered like any other, by as little.
void MessageSender::answer_empty_read(const Message& message) {
  const Message response{.opcode = Opcode::kReadResponse, .stag = message.stag, .offset = message.offset};
  const int fd = base_.socket().fd();
  const WriteStatus status = outbound_.send(fd, response, nullptr);
  if (status == WriteStatus::kLost || stream_.flush(fd) == WriteStatus::kLost) teardown_.lose_later();
}

void MessageSender::on_writable() {
  flush();
  if (base_.state() != State::kOpen || base_.socket().is_write_wanted()) return;
  base_.hub().note_done();
  if (std::exchange(is_blocked_, false)) base_.owner()->on_writable();
}

void MessageSender::on_due() {
  if (base_.state() != State::kOpen || !std::exchange(is_blocked_, false)) return;
  base_.hub().note_done();
  base_.owner()->on_writable();
}

}  // namespace softdat::transport::tcp
