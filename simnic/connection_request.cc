// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/connection_request.h"

#include <new>

#include "simnic/datagram_queue_pair.h"
#include "simnic/engine.h"
#include "simnic/listener.h"
#include "simnic/queue_pair.h"

namespace softdat::simnic {

ConnectionRequest::ConnectionRequest(Engine& engine, const ListenerTable& listeners, const transport::Offer& offer,
                                     std::uint64_t service_id)
    : engine_(engine), listeners_(listeners), service_id_(service_id), offer_(offer) {}

// One that has nothing to answer may die with the baton held.
ConnectionRequest::~ConnectionRequest() {
  if (!inbound_) return;
  const Engine::Hold hold(engine_);
  inbound_.reset();
}

hca::Outcome ConnectionRequest::accept(hca::QueuePair& qp, std::span<const std::byte> private_data) {
  if (private_data.size() > transport::kMaxPrivateData) return hca::fail(hca::Error::kInvalidArgument);
  const Engine::Hold hold(engine_);
  if (!inbound_) return hca::fail(hca::Error::kInvalidState);
  // A peer that offers datagrams can be answered by a datagram queue pair only, and the other way round.
  auto* const datagram_qp = dynamic_cast<DatagramQueuePair*>(&qp);
  if (is_datagram() != (datagram_qp != nullptr)) return hca::fail(hca::Error::kInvalidArgument);
  const hca::Outcome outcome = datagram_qp != nullptr ? datagram_qp->accept_with_baton(*inbound_, private_data)
                                                      : static_cast<QueuePair&>(qp).connection().accept_with_baton(
                                                            *inbound_, service_id_, private_data);
  // A failed accept leaves the request as it was; the consumer may answer again.
  if (outcome) inbound_.reset();
  return outcome;
}

// Out of memory the request stays: the consumer may try again.
hca::Outcome ConnectionRequest::reject(std::span<const std::byte> private_data) {
  if (private_data.size() > transport::kMaxPrivateData) return hca::fail(hca::Error::kInvalidArgument);
  const Engine::Hold hold(engine_);
  if (!inbound_) return hca::fail(hca::Error::kInvalidState);
  try {
    inbound_->reject(private_data);
  } catch (const std::bad_alloc&) {
    return hca::fail(hca::Error::kNoMemory);
  }
  inbound_.reset();
  return hca::Done{};
}

// Passes the request to the listener of another id in this adapter. The baton keeps that listener from ending
// meanwhile.
hca::Outcome ConnectionRequest::hand_off(std::uint64_t service_id) {
  const Engine::Hold hold(engine_);
  if (!inbound_) return hca::fail(hca::Error::kInvalidState);
  Listener* const other = listeners_.find(service_id);
  if (other == nullptr) return hca::fail(hca::Error::kBadAddress);
  try {
    other->take_with_baton(inbound_);
  } catch (const std::bad_alloc&) {
    return hca::fail(hca::Error::kNoMemory);
  }
  return hca::Done{};
}

}  // namespace softdat::simnic
