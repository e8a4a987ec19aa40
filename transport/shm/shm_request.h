// SPDX-License-Identifier: BSD-2-Clause
// A connection that a peer on a link asks for.
#pragma once

#include <cstdint>
#include <memory>

#include "transport/carrier.h"

namespace softdat::transport::shm {

class Link;
struct CarrierParts;

// The number of requests of one port that stand unanswered.
using Unanswered = std::shared_ptr<std::size_t>;

class ShmRequest final : public InboundRequest {
 public:
  ShmRequest(CarrierParts& carrier, Link& link, std::uint32_t number, const Offer& offer, Unanswered unanswered);
  ~ShmRequest() override;

  const Offer& offer() const override { return offer_; }
  bool is_alive() const override { return link_ != nullptr; }
  std::unique_ptr<Channel> accept(const Offer& reply, ChannelSink& sink) override;
  void reject(std::span<const std::byte> private_data) override;

  // The link has nothing more to do with this request.
  void on_peer_gone() { leave(); }

 private:
  Link* leave();

  CarrierParts& carrier_;
  Link* link_;  // null once answered, or when the peer has gone
  const std::uint32_t number_;
  const Offer offer_;
  Unanswered unanswered_;
};

}  // namespace softdat::transport::shm
