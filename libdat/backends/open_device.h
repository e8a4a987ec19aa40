// SPDX-License-Identifier: BSD-2-Clause
// The one place that names backends.
#pragma once

#include <memory>
#include <string>

#include "hca/device.h"

namespace softdat::backends {

// How a device is to be opened: what an IA name, the environment and dat.conf's instance data boil
// down to.
struct DeviceChoice {
  std::string name;      // the IA name as the consumer sees it
  std::string instance;  // dat.conf instance data, verbatim; may name backend, address and options
};

// Opens, or shares, the device of that choice: one device per process and choice, closed with its
// last holder. kNoDevice with a logged reason when there is none. Any thread.
hca::Result<std::shared_ptr<hca::Device>> open_device(const DeviceChoice& choice);

}  // namespace softdat::backends
