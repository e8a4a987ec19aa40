// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/backends/open_device.h"

#include <unistd.h>

#include <map>
#include <new>
#include <system_error>
#include <tuple>

#include "base/guarded.h"
#include "libdat/backends/device_settings.h"
#include "simnic/open.h"

namespace softdat::backends {
namespace {

// Process, name, instance data. A child made by fork() shares its parent's sockets and epoll sets and
// none of its threads: it must open devices of its own.
using Key = std::tuple<pid_t, std::string, std::string>;
using Devices = std::map<Key, std::weak_ptr<hca::Device>>;

// Never destroyed: IAs may be open while the process ends.
base::Guarded<Devices>& open_devices() {
  static auto* const devices = new base::Guarded<Devices>();
  return *devices;
}

}  // namespace

hca::Result<std::shared_ptr<hca::Device>> open_device(const DeviceChoice& choice) try {
  const auto devices = open_devices().lock();
  std::weak_ptr<hca::Device>& known = (*devices)[{::getpid(), choice.name, choice.instance}];
  if (auto device = known.lock()) return device;
  const auto options = settle_options(choice);
  if (!options) return hca::fail(hca::Error::kNoDevice);
  std::shared_ptr<hca::Device> device = simnic::open_nic(*options);
  known = device;
  return device;
} catch (const std::bad_alloc&) {
  return hca::fail(hca::Error::kNoMemory);
} catch (const std::system_error&) {  // no thread, no descriptor
  return hca::fail(hca::Error::kNoMemory);
}

}  // namespace softdat::backends
