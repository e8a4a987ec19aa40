// SPDX-License-Identifier: BSD-2-Clause
// ConnectionRequest: a peer's request to connect that waits for an answer, over the rdma_cm_id that came with it.
#pragma once

#include <memory>

#include "hca/connection.h"
#include "verbs/event_thread.h"
#include "verbs/listener.h"
#include "verbs/traits.h"

namespace softdat::verbs {

// Owns the id until the request is answered or handed on. The destructor of an unanswered request refuses the peer as
// if nobody listened, and has the event thread destroy the id.
//
// Ownership: the receiver of ListenerSink::on_request(). The device must outlive it.
// Threads: any, one call at a time; it has no lock.
// Errors: kInvalidState once answered; kInvalidArgument: more private data than Traits::max_private_data.
class ConnectionRequest final : public hca::ConnectionRequest {
 public:
  ConnectionRequest(EventThread& events, Adapter& adapter, const Traits& traits, ListenerTable& listeners,
                    std::uint64_t service_id, CmEvent event);
  ~ConnectionRequest() override;

  hca::Address remote_address() const override { return remote_; }
  std::uint64_t service_id() const override { return service_id_; }
  std::span<const std::byte> private_data() const override { return private_data_; }
  std::uint32_t ird() const override { return event_.ird; }
  std::uint32_t ord() const override { return event_.ord; }
  // REQUIRES: a queue pair of this device. Failure leaves the request unanswered.
  hca::Outcome accept(hca::QueuePair& qp, std::span<const std::byte> private_data) override;
  hca::Outcome reject(std::span<const std::byte> private_data) override;
  // kBadAddress: no listener for `service_id` takes it; the request stays unanswered.
  hca::Outcome hand_off(std::uint64_t service_id) override;

 private:
  EventThread& events_;
  Adapter& adapter_;
  const Traits& traits_;
  ListenerTable& listeners_;
  const std::uint64_t service_id_;
  CmEvent event_;  // id null: spent
  const hca::Bytes private_data_;
  const hca::Address remote_;
};

}  // namespace softdat::verbs
