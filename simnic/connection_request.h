// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <utility>

#include "hca/datagram.h"
#include "transport/carrier.h"

namespace softdat::simnic {

class Engine;
class ListenerTable;

// A peer's request in the consumer's hands; outlives its listener if need be.
class ConnectionRequest final : public hca::ConnectionRequest, public hca::DatagramRequester {
 public:
  // With the baton. `service_id` is that of the listener that it has come to. Has nothing to answer before adopt().
  ConnectionRequest(Engine& engine, const ListenerTable& listeners, const transport::Offer& offer,
                    std::uint64_t service_id);
  ~ConnectionRequest() override;

  // With the baton.
  void adopt(std::unique_ptr<transport::InboundRequest> inbound) { inbound_ = std::move(inbound); }
  std::unique_ptr<transport::InboundRequest> give_up() { return std::move(inbound_); }

  hca::Address remote_address() const override { return offer_.address; }
  std::uint64_t service_id() const override { return service_id_; }
  std::span<const std::byte> private_data() const override { return offer_.private_data; }
  std::uint32_t ird() const override { return offer_.ird; }
  std::uint32_t ord() const override { return offer_.ord; }
  hca::Outcome accept(hca::QueuePair& qp, std::span<const std::byte> private_data) override;
  hca::Outcome reject(std::span<const std::byte> private_data) override;
  hca::Outcome hand_off(std::uint64_t service_id) override;
  bool is_datagram() const override { return (offer_.features & transport::kDatagrams) != 0; }

 private:
  // Fixed after construction.
  Engine& engine_;
  const ListenerTable& listeners_;
  const std::uint64_t service_id_;
  const transport::Offer offer_;
  // Owned by the baton; null once answered.
  std::unique_ptr<transport::InboundRequest> inbound_;
};

}  // namespace softdat::simnic
