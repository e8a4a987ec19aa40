// SPDX-License-Identifier: BSD-2-Clause
// The device behind an IA name. Compiled once: nothing here knows an API's layout.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "hca/device.h"
#include "libdat/object/status.h"

namespace softdat::api {

// What stands in the way has been logged. Any thread.
base::Result<std::shared_ptr<hca::Device>, object::Status> open_device(const std::string& ia_name,
                                                                       const std::string& instance_data);

}  // namespace softdat::api
