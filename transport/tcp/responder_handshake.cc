// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/responder_handshake.h"

#include <sys/socket.h>

#include <cerrno>
#include <new>
#include <utility>

#include "transport/tcp/socket.h"

namespace softdat::transport::tcp {

bool ResponderHandshake::start(base::UniqueFd fd, const SharedPort& port) {
  port_ = port;
  if (!base_.socket().open(std::move(fd))) return false;
  base_.hub().enlist(base_.hold());
  // Until the request has come whole: peers that connect and say nothing are bounded in number and time.
  base_.hub().connections().add_half_open(base_, remote_address(base_.socket().fd()));
  base_.set_timer(base_.options().request_timeout);
  base_.hub().note_unarmed(base_);
  return true;
}

// A fault ends the connection without a word (docs/WIRE.md, "Breaches").
bool ResponderHandshake::read() {
  const auto reading = reader_.read(base_.socket().fd(), MpaFrameKind::kRequest);
  if (reading.frame) on_request(*reading.frame);
  if (reading.fault) {
    base_.hub().note_done();
    base_.end();
  }
  return reading.has_moved;
}

void ResponderHandshake::on_request(const MpaFrame& request) {
  base_.hub().connections().remove_half_open(base_);
  base_.stop_timer();
  base_.hub().note_done();
  request_ = request;
  const RequestReading reading = read_request(request, port_->service_id, port_->port);
  terms_.peer = reading.peer;
  terms_.agreement.is_own = reading.is_own;
  if (reading.verdict != Verdict::kNone) return refuse(reading.verdict, {});
  // port_ outlives its TcpPort; the sink is null once the consumer has ended the service point.
  const bool is_full = port_->unanswered >= port_->backlog;
  if (port_->sink == nullptr || is_full) return refuse(Verdict::kNoListener, {});
  Address& address = terms_.peer.address;
  if (!address.is_set()) address = remote_address(base_.socket().fd()).with_port(address.port);
  base_.advance(Event::kRequest);
  is_unanswered_ = true;
  ++port_->unanswered;
}

void ResponderHandshake::note_answered() {
  if (std::exchange(is_unanswered_, false)) --port_->unanswered;
}

// Between request and answer an initiator has nothing to say (RFC 5044 section 7.1): whatever can
// be read is its end, or a breach.
bool ResponderHandshake::look_whether_gone() {
  std::byte byte{};
  const ssize_t got = ::recv(base_.socket().fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  base_.hub().note_done();
  base_.end();
  return true;
}

bool ResponderHandshake::accept(const Offer& reply, ChannelSink& sink) {
  // The initiator may have given up while the consumer made up its mind: then accepting must fail, not succeed and
  // break.
  if (!is_requested() || look_whether_gone()) return false;
  const SharedConnection self = base_.hold();
  const TcpOptions& options = base_.options();
  Agreement& agreement = terms_.agreement;
  agreement = agree(options, request_, agreement.is_own, terms_.peer.features & reply.features);
  // Whatever takes memory comes before the answer, which cannot be taken back.
  const auto frame = encode_mpa_frame(make_reply(agreement, request_, reply));
  terms_.own = reply;
  receiver_.start();
  if (!write_frame(base_.socket().fd(), frame)) {
    base_.end();
    return false;
  }
  note_answered();
  base_.owner().attach(sink);
  if (Tapper* const tapper = base_.hub().connections().tapper()) base_.owner().join_tap(*tapper, terms_);
  const bool is_peer_to_peer = agreement.rtr != 0;
  base_.advance(is_peer_to_peer ? Event::kConfirm : Event::kHold);
  // RFC 5044 section 7.1: the responder sends its first FPDU after the initiator's. In peer-to-peer mode that one is
  // sure to come; else the hold time ends the wait.
  base_.set_timer(is_peer_to_peer ? options.confirm_timeout : options.responder_hold);
  base_.hub().note_work();
  return true;
}

void ResponderHandshake::reject(std::span<const std::byte> private_data) {
  Offer answer;
  answer.private_data.assign(private_data.begin(), private_data.end());
  if (!is_requested()) return;
  if (Tapper* const tapper = base_.hub().connections().tapper()) tapper->on_reject(terms_.peer, private_data);
  refuse(Verdict::kByConsumer, answer);
}

void ResponderHandshake::refuse(Verdict verdict, const Offer& answer) {
  if (base_.state() != State::kRequested && base_.state() != State::kAwaitingRequest) return;
  const SharedConnection self = base_.hold();
  note_answered();
  const auto frame = encode_mpa_frame(make_refusal(request_, verdict, answer));
  if (!write_frame(base_.socket().fd(), frame)) return base_.end();
  teardown_.drain();
  if (base_.state() == State::kDraining) count_refused();
}

// A refused peer that keeps its end open holds a descriptor of ours until the linger time is over.
void ResponderHandshake::count_refused() try {
  base_.hub().connections().add_half_open(base_, remote_address(base_.socket().fd()));
} catch (const std::bad_alloc&) {
  base_.end();
}

}  // namespace softdat::transport::tcp
