// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/address_handle.h"

#include <utility>

#include "simnic/engine.h"

namespace softdat::simnic {

AddressHandle::AddressHandle(Engine& engine, std::shared_ptr<DatagramLink> link)
    : engine_(engine),
      address_(link->remote()),
      qp_number_(link->peer_number()),
      link_number_(link->number()),
      link_(std::move(link)) {}

AddressHandle::~AddressHandle() {
  // The last reference to a link closes its channel, which needs the baton.
  const Engine::Hold hold(engine_);
  link_.reset();
}

}  // namespace softdat::simnic
