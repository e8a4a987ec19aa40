// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/memory_window.h"

#include "base/assert.h"
#include "libdat/object/hca_status.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/limit.h"
#include "libdat/object/protection_zone.h"

namespace softdat::object {

MemoryWindow::MemoryWindow(InterfaceAdapter& ia, ProtectionZone& pz, WindowScope scope)
    : Object(kKind, &ia), pz_(std::static_pointer_cast<ProtectionZone>(pz.shared_from_this())), scope_(scope) {}

Status MemoryWindow::create(ProtectionZone& pz, WindowScope scope, Handle& rmr) {
  InterfaceAdapter& ia = pz.ia();
  const std::shared_ptr<MemoryWindow> self(new MemoryWindow(ia, pz, scope));
  Adoption adoption(ia, self);
  if (!adoption.status().ok()) return adoption.status();
  auto window = pz.device().create_window(
      pz.domain(), scope == WindowScope::kZone ? hca::WindowScope::kDomain : hca::WindowScope::kQueuePair,
      // Comes back as the context of bind completions, and becomes rmr_handle of the event.
      reinterpret_cast<std::uint64_t>(self->handle()));
  if (!window) {
    const hca::DeviceAttributes& device = pz.device().attributes();
    return failed_creation(window.reason(), StatusDetail::kResourceMemoryRegion, StatusDetail::kInvalidArg1, device,
                           {"memory windows (RMRs)", device.max_mw, "max_rmrs"});
  }
  if (!pz.add_user()) return invalid_handle(StatusDetail::kInvalidHandlePz);
  self->window_ = std::move(*window);
  rmr = adoption.publish();
  return kOk;
}

Status MemoryWindow::free(Pin<MemoryWindow> rmr) {
  const bool was_open = HandleTable::instance().close(as_object(std::move(rmr)));
  return was_open ? kOk : invalid_handle(StatusDetail::kInvalidHandleRmr);
}

hca::Device& MemoryWindow::device() const {
  return pz_->device();
}

MemoryWindowParameters MemoryWindow::query() const {
  const hca::WindowBinding bound = window_->binding();
  return {.ia = ia_handle(),
          .pz = pz_->handle(),
          .scope = scope_,
          .lmr_context = bound.lkey,
          .address = bound.address,
          .length = bound.length,
          .privileges = bound.note,
          .rmr_context = bound.rkey,
          .is_zero_based = bound.is_zero_based};
}

void MemoryWindow::detach() {
  SOFTDAT_DEBUG_CHECK(window_ != nullptr, "an RMR that was published has the device's window until it ends");
  window_.reset();
  pz_->remove_user();
}

}  // namespace softdat::object
