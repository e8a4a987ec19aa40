// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "hca/types.h"
#include "simnic/model/profile.h"

namespace softdat::simnic::model {

// The profile of a device that is there. `source` goes beside each value. What attributes do not tell, or is less than
// a profile can say, is not known; what is more is the most that it can say.
Profile capture(const hca::DeviceAttributes& attributes, const std::string& name, const std::string& source);

}  // namespace softdat::simnic::model
