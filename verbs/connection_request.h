// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>

#include "hca/connection.h"
#include "verbs/event_thread.h"
#include "verbs/listener.h"
#include "verbs/traits.h"

namespace softdat::verbs {

// Owns the id of a request until it is answered or handed on.
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
  hca::Outcome accept(hca::QueuePair& qp, std::span<const std::byte> private_data) override;
  hca::Outcome reject(std::span<const std::byte> private_data) override;
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

// No consumer has said so.
void refuse(const Library& library, const Traits& traits, rdma_cm_id* id);

}  // namespace softdat::verbs
