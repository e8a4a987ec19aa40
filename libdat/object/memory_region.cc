// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/memory_region.h"

#include <string>

#include "base/assert.h"
#include "libdat/object/failure_text.h"
#include "libdat/object/hca_status.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/limit.h"
#include "libdat/object/memory_probe.h"
#include "libdat/object/protection_zone.h"
#include "libdat/object/refusal.h"
#include "libdat/object/users_words.h"

namespace softdat::object {
namespace {

constexpr std::uint32_t kRemotePrivileges = kRemoteReadPrivilege | kRemoteWritePrivilege | kRemoteAtomicPrivilege;
constexpr std::uint32_t kWritePrivileges = kLocalWritePrivilege | kRemoteWritePrivilege | kRemoteAtomicPrivilege;

hca::AccessMask access_of(const Registration& registration) {
  const std::uint32_t privileges = registration.privileges;
  hca::AccessMask access = registration.is_zero_based ? hca::kZeroBased : 0u;
  if ((privileges & kLocalWritePrivilege) != 0) access |= hca::kLocalWrite;
  // Who may write may read: as adapters have it, and as existing programs send from what they registered for writing.
  if ((privileges & (kLocalReadPrivilege | kLocalWritePrivilege)) == 0) access |= hca::kNoLocalRead;
  // "Set RMR's DAT_MEM_PRIV_REMOTE_READ_FLAG requires that LMR's DAT_MEM_PRIV_LOCAL_READ_FLAG is also set"
  if ((privileges & kLocalReadPrivilege) != 0) access |= hca::kBindRemoteRead;
  return access | MemoryRegion::remote_access(privileges);
}

Status check_range(const Registration& asked, const hca::DeviceAttributes& device) {
  if (asked.length == 0) {
    return because(length_error(), [] { return std::string("a region of no bytes is asked for"); });
  }
  if (asked.length > device.max_mr_size) {
    return because(invalid_parameter(StatusDetail::kInvalidArg4), [&] {
      return "the region has " + std::to_string(asked.length) + " bytes, and the adapter takes " +
             std::to_string(device.max_mr_size) + " at most (max_lmr_block_size of dat_ia_query)";
    });
  }
  // The last byte would lie behind the end of the address space.
  if (asked.address + (asked.length - 1) < asked.address) {
    return invalid_parameter(StatusDetail::kInvalidArg4);
  }
  return kOk;
}

// The memory of an existing LMR again: a source's range is taken as it is.
Registration resolve_source(Registration registration) {
  if (registration.source == nullptr) return registration;
  registration.address = registration.source->query().address;
  registration.length = registration.source->query().length;
  return registration;
}

}  // namespace

hca::AccessMask MemoryRegion::remote_access(std::uint32_t privileges) {
  hca::AccessMask access = 0;
  if ((privileges & kRemoteReadPrivilege) != 0) access |= hca::kRemoteRead;
  if ((privileges & kRemoteWritePrivilege) != 0) access |= hca::kRemoteWrite;
  if ((privileges & kRemoteAtomicPrivilege) != 0) access |= hca::kRemoteAtomic;
  return access;
}

hca::Device& MemoryRegion::device() const {
  return pz_->device();
}

MemoryRegion::MemoryRegion(InterfaceAdapter& ia, ProtectionZone& pz)
    : Object(kKind, &ia), pz_(std::static_pointer_cast<ProtectionZone>(pz.shared_from_this())) {}

Status MemoryRegion::create(InterfaceAdapter& ia, ProtectionZone& pz, const Registration& registration, Handle& lmr,
                            MemoryRegionParameters& out) {
  if ((registration.privileges & ~kAllPrivileges) != 0) return invalid_parameter(StatusDetail::kInvalidArg6);
  if (registration.source != nullptr && &registration.source->device() != &ia.device()) {
    return invalid_handle(StatusDetail::kInvalidHandleLmr);
  }
  SOFTDAT_DEBUG_CHECK((registration.type == MemoryType::kLmr) == (registration.source != nullptr),
                      "the memory of an LMR is registered by its type");
  const Registration asked = resolve_source(registration);
  if (const Status range = check_range(asked, ia.device().attributes()); !range.ok()) return range;
  if (&pz.device() != &ia.device()) return invalid_handle(StatusDetail::kInvalidHandlePz);
  const std::shared_ptr<MemoryRegion> self(new MemoryRegion(ia, pz));
  if (const Status claim = self->claim_memory(asked); !claim.ok()) return claim;
  Adoption adoption(ia, self);
  if (!adoption.status().ok()) return adoption.status();
  if (const Status made = self->register_memory(asked); !made.ok()) return made;
  out = self->parameters_;
  lmr = adoption.publish();
  return kOk;
}

Status MemoryRegion::claim_memory(const Registration& registration) {
  SOFTDAT_DEBUG_CHECK(claim_ == nullptr, "an LMR claims its memory once");
  const bool is_written = (registration.privileges & kWritePrivileges) != 0;
  const MemoryNature nature = look_at_memory(registration.address, registration.length, is_written);
  if (!nature.is_accessible) {
    return because(invalid_parameter(StatusDetail::kInvalidArg3), [&] {
      return "the memory " + range_text(registration.address, registration.length) + " is not mapped throughout" +
             (is_written ? ", or cannot be written, as the privileges ask" : ", or cannot be read");
    });
  }
  // dat_lmr_create(3DAT): registrations with one cookie must be of the same shared memory.
  if (registration.type != MemoryType::kSharedVirtual) return kOk;
  if (nature.is_shared) claim_ = SharedMemoryClaim::make(registration.cookie, nature.identity);
  return claim_ != nullptr ? kOk : invalid_state(StatusDetail::kNoSubtype);
}

Status MemoryRegion::register_memory(const Registration& registration) {
  auto region =
      ia().device().register_memory(pz_->domain(), registration.address, registration.length, access_of(registration));
  if (!region) {
    const hca::DeviceAttributes& device = ia().device().attributes();
    if (region.reason() == hca::Error::kUnsupported) return not_offered(device, "zero-based regions (zb_supported)");
    return failed_creation(region.reason(), StatusDetail::kResourceMemoryRegion, StatusDetail::kInvalidArg3, device,
                           {"memory regions", device.max_mr, "max_lmrs"});
  }
  SOFTDAT_DEBUG_CHECK((claim_ != nullptr) == (registration.type == MemoryType::kSharedVirtual),
                      "shared memory is claimed before it is registered, and no other");
  // The PZ may have been freed meanwhile. Then the device's region goes with this scope.
  if (!pz_->add_user()) return invalid_handle(StatusDetail::kInvalidHandlePz);
  region_ = std::move(*region);
  const bool is_remote = (registration.privileges & kRemotePrivileges) != 0;
  parameters_ = {.ia = ia().handle(),
                 .pz = pz_->handle(),
                 .type = registration.type,
                 .source = registration.source == nullptr ? nullptr : registration.source->handle(),
                 .cookie = claim_ == nullptr ? nullptr : &claim_->cookie(),
                 .address = registration.address,
                 .length = registration.length,
                 .privileges = registration.privileges,
                 .is_zero_based = registration.is_zero_based,
                 .lmr_context = region_->lkey(),
                 .rmr_context = is_remote ? region_->rkey() : 0,
                 .registered_address = registration.address,
                 .registered_size = registration.length};
  return kOk;
}

// INVALID_STATE while a window is bound. After revoke() posts refuse the key; detach() waits for the rest.
Status MemoryRegion::free(Pin<MemoryRegion> lmr) {
  if (!lmr->region_->revoke()) {
    return because(invalid_state(StatusDetail::kInvalidStateLmrInUse), [&] { return in_use_text(*lmr); });
  }
  const bool was_open = HandleTable::instance().close(as_object(std::move(lmr)));
  return was_open ? kOk : invalid_handle(StatusDetail::kInvalidHandleLmr);
}

void MemoryRegion::detach() {
  SOFTDAT_DEBUG_CHECK(region_ != nullptr, "an LMR that was published has the device's region until it ends");
  // It refers to the PZ's domain, so it ends first.
  region_.reset();
  claim_.reset();
  pz_->remove_user();
}

}  // namespace softdat::object
