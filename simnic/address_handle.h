// SPDX-License-Identifier: BSD-2-Clause
// AddressHandle: where datagrams of a peer's queue pair go. Holds its link open. Any thread; created with the baton,
// and destroyed without it.
#pragma once

#include <cstdint>
#include <memory>

#include "hca/datagram.h"
#include "simnic/datagram_link.h"

namespace softdat::simnic {

class Engine;

class AddressHandle final : public hca::AddressHandle {
 public:
  AddressHandle(Engine& engine, std::shared_ptr<DatagramLink> link);
  ~AddressHandle() override;
  hca::Address address() const override { return address_; }
  std::uint32_t qp_number() const override { return qp_number_; }
  std::uint64_t link_number() const { return link_number_; }

 private:
  // Fixed after construction.
  Engine& engine_;
  const hca::Address address_;
  const std::uint32_t qp_number_;
  const std::uint64_t link_number_;
  // Owned by the baton.
  std::shared_ptr<DatagramLink> link_;
};

}  // namespace softdat::simnic
