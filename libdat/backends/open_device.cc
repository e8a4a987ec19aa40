// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/backends/open_device.h"

#include <pthread.h>

#include <cstddef>
#include <map>
#include <new>
#include <system_error>
#include <utility>

#include "base/guarded.h"
#include "libdat/backends/device_settings.h"
#include "simnic/open.h"

namespace softdat::backends {
namespace {

using Key = std::pair<std::string, std::string>;  // name, instance data
using Devices = std::map<Key, std::weak_ptr<hca::Device>>;

alignas(base::Guarded<Devices>) std::byte g_devices[sizeof(base::Guarded<Devices>)];

// A child made by fork() shares its parent's sockets and epoll sets, not its threads: it must open
// devices of its own. What the parent knew is left as it is, for a thread may have been changing it.
base::Guarded<Devices>* make_open_devices() {
  return new (g_devices) base::Guarded<Devices>();
}

// Never destroyed: IAs may be open while the process ends.
base::Guarded<Devices>& open_devices() {
  static auto* const devices = [] {
    static_cast<void>(::pthread_atfork(nullptr, nullptr, [] { static_cast<void>(make_open_devices()); }));
    return make_open_devices();
  }();
  return *devices;
}

}  // namespace

hca::Result<std::shared_ptr<hca::Device>> open_device(const DeviceChoice& choice) try {
  const auto devices = open_devices().lock();
  std::weak_ptr<hca::Device>& known = (*devices)[{choice.name, choice.instance}];
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
