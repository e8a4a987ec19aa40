// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/protection_zone.h"

#include "base/assert.h"
#include "libdat/object/hca_status.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/limit.h"
#include "libdat/object/refusal.h"
#include "libdat/object/users_words.h"

namespace softdat::object {

ProtectionZone::ProtectionZone(InterfaceAdapter& ia, std::unique_ptr<hca::ProtectionDomain> domain)
    : Object(kKind, &ia), device_(ia.shared_device()), domain_(std::move(domain)) {}

ProtectionZone::~ProtectionZone() {
  SOFTDAT_DEBUG_CHECK(users_.is_closed() || users_.count() == 0, "a PZ outlives what uses it",
                      static_cast<std::uint64_t>(users_.count()));
}

Status ProtectionZone::create(InterfaceAdapter& ia, Handle& pz) {
  auto domain = ia.device().create_pd();
  if (!domain) {
    const hca::DeviceAttributes& device = ia.device().attributes();
    return failed_creation(domain.reason(), StatusDetail::kResourceProtectionDomain, StatusDetail::kInvalidArg1, device,
                           {"protection zones (PZs)", device.max_pd, "max_pzs"});
  }
  Adoption adoption(ia, std::shared_ptr<ProtectionZone>(new ProtectionZone(ia, std::move(*domain))));
  if (!adoption.status().ok()) return adoption.status();
  pz = adoption.publish();
  return kOk;
}

Status ProtectionZone::free(Pin<ProtectionZone> pz) {
  // dat_pz_free(3DAT): INVALID_STATE while an EP, LMR, RMR or SRQ is in it. From here on none can join.
  if (!pz->users_.try_close()) {
    return because(invalid_state(StatusDetail::kInvalidStatePzInUse), [&] { return in_use_text(*pz); });
  }
  const bool was_open = HandleTable::instance().close(as_object(std::move(pz)));
  return was_open ? kOk : invalid_handle(StatusDetail::kInvalidHandlePz);
}

}  // namespace softdat::object
