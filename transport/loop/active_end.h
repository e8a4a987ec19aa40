// SPDX-License-Identifier: BSD-2-Clause
// ActiveEnd: the end that connects. Internal to transport/loop.
//
// Part of its Conversation. Guarded by the network's lock.
#pragma once

#include <span>

#include "transport/loop/end.h"

namespace softdat::transport::loop {

class ActiveEnd final : public End {
 public:
  ActiveEnd(LoopNetwork& network, Conversation& whole) : End(network, whole) {}

  // Called once, before anything else.
  void start_connecting(LoopCarrier& carrier, ChannelSink& sink, const Offer& request);

 private:
  void deliver_handshake(const Item& item) override;
  void deliver_refusal(Refusal reason, std::span<const std::byte> private_data);

  Features offered_ = 0;
};

}  // namespace softdat::transport::loop
