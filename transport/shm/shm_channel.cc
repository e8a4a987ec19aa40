// SPDX-License-Identifier: BSD-2-Clause
// How a channel comes to be and ends; shm_channel_data.cc moves its messages.
#include "transport/shm/shm_channel.h"

#include <utility>

#include "transport/shm/link.h"
#include "transport/shm/shm_carrier.h"

namespace softdat::transport::shm {

ShmChannel::ShmChannel(ShmCarrier& carrier, ChannelSink& sink) : carrier_(carrier), sink_(&sink) {
  carrier_.enlist(*this);
}

ShmChannel::~ShmChannel() {
  // Destroyed within a call of its own sink: the frames on the stack must not touch the channel again.
  if (survival_ != nullptr) mark_destroyed();
  close(CloseMode::kAbrupt);
}

// An idle connection costs this much, and a few words in the table of its link.
static_assert(sizeof(ShmChannel) <= 384);

void ShmChannel::ask(Question question) {
  remote_ = question.remote;
  own_port_ = question.offer.address.port;
  service_id_ = question.offer.service_id;
  is_initiator_ = true;
  question_ = std::make_unique<Question>(std::move(question));
}

void ShmChannel::join(Link& link, std::uint32_t number, ChannelState state) {
  link_ = &link;
  number_ = number;
  state_ = state;
}

void ShmChannel::leave() {
  // Waits for posters that send with a lane alone; afterwards no thread uses link_ without the baton.
  if (state_ == ChannelState::kOpen && sink_ != nullptr) sink_->end_short_sends();
  link_ = nullptr;
  unlink();
}

void ShmChannel::expect(const Offer& peer, const Offer& reply) {
  peer_ = std::make_unique<Offer>(peer);
  features_ = peer.features & reply.features;
  remote_ = peer.address;
  own_port_ = reply.address.port;
  service_id_ = peer.service_id;
}

// A ShortSend that is being sent at this moment is not seen.
void ShmChannel::begin_tap(std::unique_ptr<ChannelTap> tap) {
  tap_.open(std::move(tap), sink_);
  if (tap_) brief_end_.store(0, std::memory_order_relaxed);
}

void ShmChannel::join_tap(Tapper& tapper) {
  if (sink_ == nullptr) return;
  const Address own = carrier_.address().with_port(own_port_);
  switch (state_) {
    case ChannelState::kContacting:
    case ChannelState::kConnecting:
      return begin_tap(tapper.on_connect(question_->remote, question_->offer, carrier_name(), *sink_));
    case ChannelState::kAccepting:
      return begin_tap(tapper.on_accept(*peer_, {.address = own, .service_id = service_id_, .features = features_},
                                        carrier_name(), *sink_));
    case ChannelState::kOpen:
      return begin_tap(tapper.on_running({.is_initiator = is_initiator_,
                                          .own = own,
                                          .remote = remote_,
                                          .service_id = service_id_,
                                          .features = features_,
                                          .carrier_name = carrier_name()},
                                         *sink_));
    case ChannelState::kClosed:
      return;
  }
}

void ShmChannel::end_tap() {
  tap_.close(sink_);
  brief_end_.store(kMostPayload + 1, std::memory_order_relaxed);
}

std::shared_ptr<PeerResources> ShmChannel::peer_resources() const {
  return link_ == nullptr ? nullptr : link_->peer_resources();
}

void ShmChannel::flush() {
  if (link_ == nullptr) return;
  if (ack_.is_there()) tell_ack();
  link_->flush();
}

void ShmChannel::terminate(const TerminateCode& code) {
  if (tap_ && sink_ != nullptr) tap_->on_terminate(code);
  finish(RecordKind::kTerminate, encode_terminate(code));
}

// The ring holds what send() has taken, so an orderly and an abrupt close differ in nothing: the
// bye stands behind it.
void ShmChannel::close(CloseMode) {
  if (tap_ && sink_ != nullptr) tap_->on_close();
  finish(RecordKind::kBye, {});
}

void ShmChannel::finish(RecordKind kind, std::span<const std::byte> bytes) {
  sink_ = nullptr;
  state_ = ChannelState::kClosed;
  news_ = News::kNone;
  Link* link = link_;
  // The peer's requests that were carried out must complete as such, before the final record fails the rest.
  if (link != nullptr && ack_.is_there()) tell_ack();
  leave();
  if (link != nullptr) link->finish(number_, kind, bytes);
}

bool ShmChannel::on_accept(const Offer& reply) {
  if (state_ != ChannelState::kConnecting) return false;
  state_ = ChannelState::kOpen;
  features_ = question_->offer.features & reply.features;
  remote_ = reply.address.is_set() ? reply.address : remote_;
  question_.reset();
  // send() answered kBlocked while the connection was being made. The owner is told of room in a later turn.
  if (std::exchange(wants_to_write_, false)) link_->block(*this);
  sink_->on_established(reply);
  return true;
}

bool ShmChannel::on_confirm() {
  if (state_ != ChannelState::kAccepting) return false;
  state_ = ChannelState::kOpen;
  const std::unique_ptr<Offer> peer = std::move(peer_);
  if (std::exchange(wants_to_write_, false)) link_->block(*this);
  sink_->on_established(*peer);
  return true;
}

// The link is no longer this channel's. The sink hears the word that fits the state.
void ShmChannel::on_end(CloseReason reason, const TerminateCode& code, Refusal refusal) {
  const ChannelState before = std::exchange(state_, ChannelState::kClosed);
  ChannelSink* sink = std::exchange(sink_, nullptr);
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
  state_ = ChannelState::kClosed;
  ChannelSink* sink = std::exchange(sink_, nullptr);
  if (sink != nullptr) sink->on_refused(notice.reason, notice.private_data);
}

void ShmChannel::on_room() {
  sink_->on_writable();
}

void ShmChannel::tell_later(News news, Refusal refusal) {
  news_ = news;
  news_refusal_ = refusal;
  unlink();
  carrier_.add_news(*this);
}

void ShmChannel::tell_news() {
  const News news = std::exchange(news_, News::kNone);
  ChannelSink* sink = std::exchange(sink_, nullptr);
  state_ = ChannelState::kClosed;
  if (sink == nullptr) return;
  if (news == News::kRefused) sink->on_refused(news_refusal_, {});
}

}  // namespace softdat::transport::shm
