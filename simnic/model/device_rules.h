// SPDX-License-Identifier: BSD-2-Clause
// What a simulated NIC takes from a profile: attributes, and rules that hold for posts.
#pragma once

#include <cstdint>

#include "hca/types.h"
#include "simnic/model/profile.h"

namespace softdat::simnic::model {

// Rules beyond the attributes. By themselves they forbid nothing.
struct DeviceRules {
  bool has_send_with_invalidate = true;
  bool has_cq_resize = true;
  bool has_srq_resize = true;
  bool needs_remote_write_to_read = false;

  bool operator==(const DeviceRules&) const = default;
};

DeviceRules rules_of(const Profile& profile);

// Replaces each attribute that the profile knows, by the device's own value or by what is there now, the lesser. A NIC
// cannot do more than its simulator.
void apply(const Profile& profile, hca::DeviceAttributes& attributes);

}  // namespace softdat::simnic::model
