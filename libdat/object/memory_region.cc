// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/memory_region.h"

#include "libdat/object/hca_status.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/memory_probe.h"
#include "libdat/object/protection_zone.h"

namespace softdat::object {
namespace {

constexpr std::uint32_t kRemotePrivileges = kRemoteReadPrivilege | kRemoteWritePrivilege | kRemoteAtomicPrivilege;
constexpr std::uint32_t kWritePrivileges = kLocalWritePrivilege | kRemoteWritePrivilege | kRemoteAtomicPrivilege;

hca::AccessMask access_of(std::uint32_t privileges) {
  hca::AccessMask access = 0;
  if ((privileges & kLocalWritePrivilege) != 0) access |= hca::kLocalWrite;
  if ((privileges & kRemoteReadPrivilege) != 0) access |= hca::kRemoteRead;
  if ((privileges & kRemoteWritePrivilege) != 0) access |= hca::kRemoteWrite;
  if ((privileges & kRemoteAtomicPrivilege) != 0) access |= hca::kRemoteAtomic;
  return access;
}

Status check_range(std::uint64_t address, std::uint64_t length, std::uint32_t privileges,
                   const hca::DeviceAttributes& device) {
  if (length == 0) return length_error();
  if (length > device.max_mr_size || address + (length - 1) < address) {
    return invalid_parameter(StatusDetail::kInvalidArg4);
  }
  const bool is_written = (privileges & kWritePrivileges) != 0;
  return is_accessible(address, length, is_written) ? kOk : invalid_parameter(StatusDetail::kInvalidArg3);
}

}  // namespace

MemoryRegion::MemoryRegion(InterfaceAdapter& ia, ProtectionZone& pz)
    : Object(kKind, &ia), pz_(std::static_pointer_cast<ProtectionZone>(pz.shared_from_this())) {}

Status MemoryRegion::create(InterfaceAdapter& ia, std::uint64_t address, std::uint64_t length, ProtectionZone& pz,
                            std::uint32_t privileges, Handle& lmr, MemoryRegionParameters& out) {
  if ((privileges & ~kAllPrivileges) != 0) return invalid_parameter(StatusDetail::kInvalidArg6);
  const Status range = check_range(address, length, privileges, ia.device().attributes());
  if (!range.ok()) return range;
  if (&pz.device() != &ia.device()) return invalid_handle(StatusDetail::kInvalidHandlePz);
  const std::shared_ptr<MemoryRegion> self(new MemoryRegion(ia, pz));
  Adoption adoption(ia, self);
  if (!adoption.status().ok()) return adoption.status();
  auto region = ia.device().register_memory(pz.domain(), address, length, access_of(privileges));
  if (!region) {
    return creation_failure(region.reason(), StatusDetail::kResourceMemoryRegion, StatusDetail::kInvalidArg3);
  }
  if (!pz.add_user()) return invalid_handle(StatusDetail::kInvalidHandlePz);
  self->region_ = std::move(*region);
  const bool is_remote = (privileges & kRemotePrivileges) != 0;
  self->parameters_ = {.ia = ia.handle(),
                       .pz = pz.handle(),
                       .address = address,
                       .length = length,
                       .privileges = privileges,
                       .lmr_context = self->region_->lkey(),
                       .rmr_context = is_remote ? self->region_->rkey() : 0,
                       .registered_address = address,
                       .registered_size = length};
  out = self->parameters_;
  lmr = adoption.publish();
  return kOk;
}

Status MemoryRegion::free(Pin<MemoryRegion> lmr) {
  const bool was_open = HandleTable::instance().close(as_object(std::move(lmr)));
  return was_open ? kOk : invalid_handle(StatusDetail::kInvalidHandleLmr);
}

void MemoryRegion::detach() {
  region_.reset();
  pz_->remove_user();
}

}  // namespace softdat::object
