// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/opening.h"

#include <utility>

namespace softdat::transport::shm {

void Opening::ask(Question question) {
  remote_ = question.remote;
  own_port_ = question.offer.address.port;
  service_id_ = question.offer.service_id;
  is_initiator_ = true;
  question_ = std::make_unique<Question>(std::move(question));
}

void Opening::answer(const Offer& peer, const Offer& reply) {
  answered_ = std::make_unique<Answered>(Answered{.peer = peer, .reply = reply});
  features_ = peer.features & reply.features;
  remote_ = peer.address;
  own_port_ = reply.address.port;
  service_id_ = peer.service_id;
}

void Opening::on_accept(const Offer& reply) {
  features_ = question_->offer.features & reply.features;
  if (reply.address.is_set()) remote_ = reply.address;
  question_.reset();
}

Offer Opening::on_confirm() {
  const std::unique_ptr<Answered> answered = std::move(answered_);
  return std::move(answered->peer);
}

std::unique_ptr<ChannelTap> Opening::watch(Tapper& tapper, const Address& own, const char* carrier_name,
                                           ChannelSink& sink) const {
  if (question_) return tapper.on_connect(question_->remote, question_->offer, carrier_name, sink);
  if (answered_) return tapper.on_accept(answered_->peer, answered_->reply, carrier_name, sink);
  return tapper.on_running({.is_initiator = is_initiator_,
                            .own = own.with_port(own_port_),
                            .remote = remote_,
                            .service_id = service_id_,
                            .features = features_,
                            .carrier_name = carrier_name},
                           sink);
}

}  // namespace softdat::transport::shm
