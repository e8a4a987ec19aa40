// SPDX-License-Identifier: BSD-2-Clause
#include "transport/loop/active_end.h"

#include "base/assert.h"

namespace softdat::transport::loop {

void ActiveEnd::start_connecting(LoopCarrier& carrier, ChannelSink& sink, const Offer& request) {
  SOFTDAT_DEBUG_CHECK(state_ == EndState::kIdle, "an end begins once", static_cast<std::uint64_t>(state_));
  carrier_ = &carrier;
  sink_ = &sink;
  offered_ = request.features;
  state_ = EndState::kConnecting;
}

void ActiveEnd::deliver_handshake(const Item& item) {
  if (item.kind == ItemKind::kRefusal) return deliver_refusal(item.refusal, item.offer.private_data);
  base::check(item.kind == ItemKind::kReply, "an end that connects gets a reply or a refusal");
  // The sink may have closed the channel while the reply was under way.
  if (state_ != EndState::kConnecting) return;
  features_ = offered_ & item.offer.features;
  // Ahead of anything that the sink sends from on_established().
  peer().post({.kind = ItemKind::kConfirmation});
  open(item.offer);
}

void ActiveEnd::deliver_refusal(Refusal reason, std::span<const std::byte> private_data) {
  if (state_ != EndState::kConnecting) return;
  ChannelSink& sink = *sink_;
  become_closed();
  sink.on_refused(reason, private_data);
}

}  // namespace softdat::transport::loop
