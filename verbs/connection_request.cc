// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/connection_request.h"

#include <utility>

#include "verbs/address.h"
#include "verbs/private_data.h"
#include "verbs/queue_pair.h"

namespace softdat::verbs {

ConnectionRequest::ConnectionRequest(EventThread& events, Adapter& adapter, const Traits& traits,
                                     ListenerTable& listeners, std::uint64_t service_id, CmEvent event)
    : events_(events),
      adapter_(adapter),
      traits_(traits),
      listeners_(listeners),
      service_id_(service_id),
      event_(std::move(event)),
      private_data_(incoming_private_data(event_.private_data, traits.is_iwarp)),
      remote_(address_of(*rdma_get_peer_addr(event_.id))) {}

ConnectionRequest::~ConnectionRequest() {
  if (event_.id == nullptr) return;
  adapter_.refuse(event_.id);
  events_.bury(event_.id);
}

// On success, and on a failure by an event, the queue pair has the id, and event_.id is null.
hca::Outcome ConnectionRequest::accept(hca::QueuePair& qp, std::span<const std::byte> private_data) {
  if (private_data.size() > traits_.max_private_data) return hca::fail(hca::Error::kInvalidArgument);
  if (event_.id == nullptr) return hca::fail(hca::Error::kInvalidState);
  return static_cast<QueuePair&>(qp).accept(event_, private_data);
}

hca::Outcome ConnectionRequest::reject(std::span<const std::byte> private_data) {
  if (private_data.size() > traits_.max_private_data) return hca::fail(hca::Error::kInvalidArgument);
  if (event_.id == nullptr) return hca::fail(hca::Error::kInvalidState);
  const OutgoingPrivateData data(private_data, traits_.is_iwarp);
  adapter_.library().cm.reject(event_.id, data.data(), data.size());
  events_.bury(std::exchange(event_.id, nullptr));
  return hca::Done{};
}

hca::Outcome ConnectionRequest::hand_off(std::uint64_t service_id) {
  if (event_.id == nullptr) return hca::fail(hca::Error::kInvalidState);
  // The other listener has copied the event, with the id.
  if (!listeners_.hand_on(service_id, event_)) return hca::fail(hca::Error::kBadAddress);
  event_.id = nullptr;
  return hca::Done{};
}

}  // namespace softdat::verbs
