// SPDX-License-Identifier: BSD-2-Clause
// AddressHandle: a peer to which datagrams can be sent. The result of an exchange. The consumer frees it; an IA can be
// closed while it has some.
#pragma once

#include <memory>

#include "hca/datagram.h"
#include "libdat/object/handle_table.h"
#include "libdat/object/object.h"
#include "libdat/object/status.h"

namespace softdat::object {

// Any thread.
class AddressHandle final : public Object {
 public:
  static constexpr Kind kKind = Kind::kAddressHandle;

  // Null if there is no memory or handle, or if the IA is being closed.
  static Handle create(InterfaceAdapter& ia, std::shared_ptr<hca::AddressHandle> peer);
  // dat_ib_ud_ah_free.
  static Status free(Pin<AddressHandle> self);

  const hca::AddressHandle& peer() const { return *peer_; }

 private:
  AddressHandle(InterfaceAdapter& ia, std::shared_ptr<hca::AddressHandle> peer)
      : Object(kKind, &ia), peer_(std::move(peer)) {}
  void detach() override { peer_.reset(); }

  // Fixed after construction, until detach().
  std::shared_ptr<hca::AddressHandle> peer_;
};

}  // namespace softdat::object
