// SPDX-License-Identifier: BSD-2-Clause
// The owner may end the channel, and with it the tap, in every call: nothing of the tap is touched afterwards.
#include "simnic/capture/live_tap.h"

#include <string>

namespace softdat::simnic::capture {

using transport::Offer;
using transport::Placement;

void LiveTap::begin_in_the_middle(const transport::ConnectionFacts& facts) {
  Offer own{.address = facts.own, .service_id = facts.service_id, .features = facts.features};
  Offer peer{.address = facts.remote, .service_id = facts.service_id, .features = facts.features};
  if (facts.is_initiator) {
    capture_.ask(facts.remote, own);
  } else {
    capture_.answer(peer, own);
  }
  // The handshake has passed: the capture shows one made of what both sides agreed on.
  capture_.on_established(peer, facts.features, std::string(carrier_name_) + ", since before the capture began");
}

Placement LiveTap::place(const transport::Arrival& arrival, transport::SliceList& out) {
  capture_.on_arrival(arrival);
  if (owner_.place(arrival, out) == Placement::kDiscard) return Placement::kDiscard;
  capture_.on_placement(out.slices());
  return Placement::kPlace;
}

void LiveTap::on_fault(const transport::Arrival& arrival) {
  capture_.on_fault();
  owner_.on_fault(arrival);
}

void LiveTap::on_message(const transport::Message& message) {
  capture_.on_message(message);
  owner_.on_message(message);
}

void LiveTap::on_established(const Offer& peer) {
  capture_.on_established(peer, capture_.agreed_with(peer), carrier_name_);
  owner_.on_established(peer);
}

void LiveTap::on_refused(transport::Refusal reason, std::span<const std::byte> private_data) {
  capture_.on_refused(reason, private_data);
  owner_.on_refused(reason, private_data);
}

void LiveTap::on_closed(transport::CloseReason reason, const transport::TerminateCode& code) {
  capture_.on_closed(reason, code);
  owner_.on_closed(reason, code);
}

}  // namespace softdat::simnic::capture
