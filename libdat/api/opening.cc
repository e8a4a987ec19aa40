// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/opening.h"

#include "libdat/backends/open_device.h"
#include "libdat/object/hca_status.h"

namespace softdat::api {

base::Result<std::shared_ptr<hca::Device>, object::Status> open_device(const std::string& ia_name,
                                                                       const std::string& instance_data) {
  auto device = backends::open_device({ia_name, instance_data});
  if (!device.ok()) return base::Failure{object::opening_failure(device.reason())};
  return std::move(device).value();
}

}  // namespace softdat::api
