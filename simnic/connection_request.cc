// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/connection_request.h"

#include <utility>

#include "simnic/datagram_queue_pair.h"
#include "simnic/engine.h"
#include "simnic/listener.h"
#include "simnic/queue_pair.h"

namespace softdat::simnic {

ConnectionRequest::ConnectionRequest(Engine& engine, const ListenerTable& listeners,
                                     std::unique_ptr<transport::InboundRequest> inbound, std::uint64_t service_id)
    : engine_(engine),
      listeners_(listeners),
      service_id_(service_id),
      offer_(inbound->offer()),
      inbound_(std::move(inbound)) {}

ConnectionRequest::~ConnectionRequest() {
  const Engine::Hold hold(engine_);
  inbound_.reset();
}

hca::Outcome ConnectionRequest::accept(hca::QueuePair& qp, std::span<const std::byte> private_data) {
  if (private_data.size() > transport::kMaxPrivateData) return hca::fail(hca::Error::kInvalidArgument);
  const Engine::Hold hold(engine_);
  if (!inbound_) return hca::fail(hca::Error::kInvalidState);
  auto* const datagram_qp = dynamic_cast<DatagramQueuePair*>(&qp);
  if (is_datagram() != (datagram_qp != nullptr)) return hca::fail(hca::Error::kInvalidArgument);
  const hca::Outcome outcome =
      datagram_qp != nullptr ? datagram_qp->accept_with_baton(*inbound_, private_data)
                             : static_cast<QueuePair&>(qp).accept_with_baton(*inbound_, service_id_, private_data);
  if (outcome) inbound_.reset();
  return outcome;
}

hca::Outcome ConnectionRequest::reject(std::span<const std::byte> private_data) {
  if (private_data.size() > transport::kMaxPrivateData) return hca::fail(hca::Error::kInvalidArgument);
  const Engine::Hold hold(engine_);
  if (!inbound_) return hca::fail(hca::Error::kInvalidState);
  inbound_->reject(private_data);
  inbound_.reset();
  return hca::Done{};
}

hca::Outcome ConnectionRequest::hand_off(std::uint64_t service_id) {
  const Engine::Hold hold(engine_);
  if (!inbound_) return hca::fail(hca::Error::kInvalidState);
  Listener* const other = listeners_.find(service_id);
  if (other == nullptr) return hca::fail(hca::Error::kBadAddress);
  other->take_with_baton(std::move(inbound_));
  return hca::Done{};
}

}  // namespace softdat::simnic
