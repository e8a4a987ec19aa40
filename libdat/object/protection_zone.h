// SPDX-License-Identifier: BSD-2-Clause
// PZ: memory and endpoints of one zone can be used together, and with no others.
#pragma once

#include <memory>

#include "hca/device.h"
#include "libdat/object/handle_table.h"
#include "libdat/object/object.h"
#include "libdat/object/status.h"
#include "libdat/object/use_count.h"

namespace softdat::object {

struct ProtectionZoneParameters {
  Handle ia;
};

// Any thread.
class ProtectionZone final : public Object {
 public:
  static constexpr Kind kKind = Kind::kPz;

  ~ProtectionZone() override;
  static Status create(InterfaceAdapter& ia, Handle& pz);  // dat_pz_create
  // dat_pz_free. INVALID_STATE while an EP, LMR or RMR uses it.
  static Status free(Pin<ProtectionZone> pz);
  ProtectionZoneParameters query() const { return {ia_handle()}; }  // dat_pz_query

  // --- For the other objects of this room ---
  hca::Device& device() const { return *device_; }
  hca::ProtectionDomain& domain() const { return *domain_; }
  [[nodiscard]] bool add_user() { return users_.try_acquire(); }
  void remove_user() { users_.release(); }

 private:
  ProtectionZone(InterfaceAdapter& ia, std::unique_ptr<hca::ProtectionDomain> domain);

  // Fixed after construction; the domain goes before the device.
  std::shared_ptr<hca::Device> device_;
  std::unique_ptr<hca::ProtectionDomain> domain_;
  UseCount users_;
};

}  // namespace softdat::object
