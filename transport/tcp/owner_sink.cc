// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/owner_sink.h"

namespace softdat::transport::tcp {

void OwnerSink::establish(const Offer& peer) {
  is_established_ = true;
  sink_->on_established(peer);
}

void OwnerSink::join_tap(Tapper& tapper, const Terms& terms) {
  if (sink_ == nullptr || tap_) return;
  constexpr const char* kName = "tcp";
  // A tap that opens late (a live capture) learns what the handshake has agreed; an earlier one sees the handshake.
  if (is_established_) {
    return tap_.open(tapper.on_running({.is_initiator = terms.is_initiator,
                                        .own = terms.own.address,
                                        .remote = terms.peer.address,
                                        .service_id = terms.is_initiator ? terms.own.service_id : terms.peer.service_id,
                                        .features = terms.agreement.features,
                                        .carrier_name = kName},
                                       *sink_),
                     sink_);
  }
  tap_.open(terms.is_initiator ? tapper.on_connect(terms.remote, terms.own, kName, *sink_)
                               : tapper.on_accept(terms.peer, terms.own, kName, *sink_),
            sink_);
}

}  // namespace softdat::transport::tcp
