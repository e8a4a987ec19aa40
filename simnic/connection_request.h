// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>

#include "hca/connection.h"
#include "transport/carrier.h"

namespace softdat::simnic {

class Engine;

// A peer's request in the consumer's hands; outlives its listener if need be.
class ConnectionRequest final : public hca::ConnectionRequest {
 public:
  // With the baton.
  ConnectionRequest(Engine& engine, std::unique_ptr<transport::InboundRequest> inbound);
  ~ConnectionRequest() override;

  hca::Address remote_address() const override { return {offer_.address.ipv4, offer_.address.port}; }
  std::uint64_t service_id() const override { return offer_.service_id; }
  std::span<const std::byte> private_data() const override { return offer_.private_data; }
  hca::Outcome accept(hca::QueuePair& qp, std::span<const std::byte> private_data) override;
  hca::Outcome reject(std::span<const std::byte> private_data) override;

 private:
  // Fixed after construction.
  Engine& engine_;
  const transport::Offer offer_;
  // Owned by the baton; null once answered.
  std::unique_ptr<transport::InboundRequest> inbound_;
};

}  // namespace softdat::simnic
