// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/address_handle.h"

#include <new>

#include "base/assert.h"
#include "libdat/object/interface_adapter.h"

namespace softdat::object {

Handle AddressHandle::create(InterfaceAdapter& ia, std::shared_ptr<hca::AddressHandle> peer) {
  SOFTDAT_DEBUG_CHECK(peer != nullptr, "an address handle is made of the device's");
  try {
    const std::shared_ptr<AddressHandle> self(new AddressHandle(ia, std::move(peer)));
    // The consumer frees it, but it does not keep the IA from closing gracefully.
    Adoption adoption(ia, self, Maker::kProvider);
    return adoption.status().ok() ? adoption.publish() : nullptr;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

Status AddressHandle::free(Pin<AddressHandle> self) {
  const bool was_open = HandleTable::instance().close(as_object(std::move(self)));
  return was_open ? kOk : invalid_parameter(StatusDetail::kInvalidArg3);
}

}  // namespace softdat::object
