// SPDX-License-Identifier: BSD-2-Clause
// PassiveEnd: the end that is asked. Internal to transport/loop.
//
// Part of its Conversation. Guarded by the network's lock.
#pragma once

#include <span>

#include "transport/loop/end.h"

namespace softdat::transport::loop {

class PassiveEnd final : public End {
 public:
  PassiveEnd(LoopNetwork& network, Conversation& whole) : End(network, whole) {}

  // The carrier whose turn delivers this end's inbox.
  void attach(LoopCarrier& carrier) { carrier_ = &carrier; }
  // The request waits for an answer from now on, and counts among those of its port.
  void start_requested(Unanswered unanswered, const Offer& request);

  // The consumer's answers. accept() returns false if the peer has gone. Both throw std::bad_alloc without any effect.
  bool accept(const Offer& reply, ChannelSink& sink);
  void refuse(Refusal reason, std::span<const std::byte> private_data);

 private:
  void deliver_handshake(const Item& item) override;

  Offer request_;
};

}  // namespace softdat::transport::loop
