// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/shm_channel.h"

#include <utility>

#include "transport/shm/carrier_parts.h"
#include "transport/shm/link.h"

namespace softdat::transport::shm {

// An idle connection costs this much, and a few words in the table of its link.
static_assert(sizeof(ShmChannel) <= 384);

ShmChannel::ShmChannel(CarrierParts& carrier, ChannelSink& sink) : carrier_(carrier), status_{.sink = &sink} {
  carrier_.channels.push_back(*this);
}

ShmChannel::~ShmChannel() {
  close(CloseMode::kAbrupt);
}

void ShmChannel::join(Link& link, std::uint32_t number, ChannelState state) {
  outbound_.join(link, number);
  status_.state = state;
}

void ShmChannel::leave() {
  // Waits for posters that send with a lane alone; afterwards no thread uses the link without the baton.
  if (status_.is_open() && status_.sink != nullptr) status_.sink->end_short_sends();
  outbound_.leave();
  unlink();
}

// A ShortSend that is being sent at this moment is not seen.
void ShmChannel::tap(Tapper* tapper) {
  if (tapper == nullptr) {
    tap_.close(status_.sink);
    return outbound_.allow_short_sends(true);
  }
  if (status_.sink == nullptr) return;
  tap_.open(opening_.watch(*tapper, carrier_.options.address, carrier_name(), *status_.sink), status_.sink);
  if (tap_) outbound_.allow_short_sends(false);
}

std::shared_ptr<PeerResources> ShmChannel::peer_resources() const {
  const Link* const link = outbound_.link();
  return link == nullptr ? nullptr : link->peer_resources();
}

SendResult ShmChannel::send(const Message& message, PayloadSource* payload) {
  if (tap_) [[unlikely]]
    tap_->before_send();
  if (status_.state == ChannelState::kClosed) return SendResult::kClosed;
  if (!status_.is_open()) {
    wants_to_write_ = true;
    return SendResult::kBlocked;
  }
  const SendResult result = outbound_.send(message, payload);
  if (result == SendResult::kBlocked && !is_linked()) outbound_.link()->writer().block(*this);
  if (result == SendResult::kDone && tap_) [[unlikely]]
    tap_->on_sent(message, payload);
  return result;
}

bool ShmChannel::send_short(const ShortSend& short_send) {
  return status_.is_open() && outbound_.send_short(short_send);
}

void ShmChannel::flush() {
  if (outbound_.link() == nullptr) return;
  outbound_.tell_ack();
  outbound_.link()->writer().flush();
}

void ShmChannel::terminate(const TerminateCode& code) {
  if (tap_ && status_.sink != nullptr) tap_->on_terminate(code);
  finish(RecordKind::kTerminate, encode_terminate(code));
}

// The ring holds what send() has taken, so an orderly and an abrupt close differ in nothing: the
// bye stands behind it.
void ShmChannel::close(CloseMode) {
  if (tap_ && status_.sink != nullptr) tap_->on_close();
  finish(RecordKind::kBye, {});
}

void ShmChannel::finish(RecordKind kind, std::span<const std::byte> bytes) {
  status_ = {.sink = nullptr, .state = ChannelState::kClosed};
  Link* const link = outbound_.link();
  // The peer's requests that were carried out must complete as such, before the final record fails the rest.
  if (link != nullptr) outbound_.tell_ack();
  leave();
  if (link != nullptr) link->conversations().finish(outbound_.number(), kind, bytes);
}

bool ShmChannel::on_accept(const Offer& reply) {
  if (status_.state != ChannelState::kConnecting) return false;
  opening_.on_accept(reply);
  become_open();
  status_.sink->on_established(reply);
  return true;
}

bool ShmChannel::on_confirm() {
  if (status_.state != ChannelState::kAccepting) return false;
  const Offer peer = opening_.on_confirm();
  become_open();
  status_.sink->on_established(peer);
  return true;
}

// send() answered kBlocked while the connection was being made. The owner is told of room in a later turn.
void ShmChannel::become_open() {
  status_.state = ChannelState::kOpen;
  if (std::exchange(wants_to_write_, false)) outbound_.link()->writer().block(*this);
}

// The link is no longer this channel's. The sink hears the word that fits the state.
void ShmChannel::on_end(CloseReason reason, const TerminateCode& code, Refusal refusal) {
  const ChannelState before = std::exchange(status_.state, ChannelState::kClosed);
  ChannelSink* const sink = std::exchange(status_.sink, nullptr);
  if (sink == nullptr) return;
  switch (before) {
    case ChannelState::kContacting:
    case ChannelState::kConnecting:
      return sink->on_refused(refusal, {});
    case ChannelState::kAccepting:
      return sink->on_closed(CloseReason::kLost, {});
    case ChannelState::kOpen:
      return sink->on_closed(reason, code);
    case ChannelState::kClosed:
      return;
  }
}

void ShmChannel::on_refusal(const RefusalNotice& notice) {
  status_.state = ChannelState::kClosed;
  ChannelSink* const sink = std::exchange(status_.sink, nullptr);
  if (sink != nullptr) sink->on_refused(notice.reason, notice.private_data);
}

}  // namespace softdat::transport::shm
