// SPDX-License-Identifier: BSD-2-Clause
#include "transport/loop/passive_end.h"

#include <utility>

#include "base/assert.h"
#include "transport/loop/conversation.h"
#include "transport/loop/loop_carrier.h"

namespace softdat::transport::loop {

void PassiveEnd::start_requested(Unanswered unanswered, const Offer& request) {
  SOFTDAT_DEBUG_CHECK(state_ == EndState::kIdle, "an end begins once", static_cast<std::uint64_t>(state_));
  request_ = request;
  unanswered_ = std::move(unanswered);
  ++*unanswered_;
  state_ = EndState::kRequested;
}

bool PassiveEnd::accept(const Offer& reply, ChannelSink& sink) {
  base::require_lock(locks::kLoopNetwork);
  if (state_ != EndState::kRequested) return false;
  // The copy may throw, so it comes before any change.
  Item item{.kind = ItemKind::kReply, .offer = reply};
  --*std::exchange(unanswered_, nullptr);
  state_ = EndState::kAccepting;
  sink_ = &sink;
  features_ = request_.features & reply.features;
  peer().post(std::move(item));
  return true;
}

void PassiveEnd::refuse(Refusal reason, std::span<const std::byte> private_data) {
  base::require_lock(locks::kLoopNetwork);
  if (state_ != EndState::kRequested && state_ != EndState::kIdle) return;
  Item item{.kind = ItemKind::kRefusal, .refusal = reason};
  item.offer.private_data.assign(private_data.begin(), private_data.end());
  peer().post(std::move(item));
  become_closed();
}

void PassiveEnd::deliver_handshake(const Item& item) {
  if (item.kind == ItemKind::kRequest) return carrier_->serve_request(whole_.share(*this), item.offer);
  base::check(item.kind == ItemKind::kConfirmation, "an end that is asked gets a request or a confirmation");
  if (state_ == EndState::kAccepting) open(request_);
}

}  // namespace softdat::transport::loop
