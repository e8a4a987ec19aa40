// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/memory_window.h"

#include "libdat/object/interface_adapter.h"
#include "libdat/object/protection_zone.h"

namespace softdat::object {

MemoryWindow::MemoryWindow(InterfaceAdapter& ia, ProtectionZone& pz)
    : Object(kKind, &ia), pz_(std::static_pointer_cast<ProtectionZone>(pz.shared_from_this())) {}

Status MemoryWindow::create(ProtectionZone& pz, Handle& rmr) {
  if (!pz.add_user()) return invalid_handle(StatusDetail::kInvalidHandlePz);
  InterfaceAdapter& ia = pz.ia();
  const std::shared_ptr<MemoryWindow> self(new MemoryWindow(ia, pz));
  Adoption adoption(ia, self);
  if (!adoption.status().ok()) {
    pz.remove_user();
    return adoption.status();
  }
  rmr = adoption.publish();
  return kOk;
}

Status MemoryWindow::free(Pin<MemoryWindow> rmr) {
  const bool was_open = HandleTable::instance().close(as_object(std::move(rmr)));
  return was_open ? kOk : invalid_handle(StatusDetail::kInvalidHandleRmr);
}

MemoryWindowParameters MemoryWindow::query() const {
  return {ia_handle(), pz_->handle()};
}

void MemoryWindow::detach() {
  pz_->remove_user();
}

}  // namespace softdat::object
