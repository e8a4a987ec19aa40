// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/backends/open_device.h"

#include <unistd.h>

#include <map>
#include <new>
#include <system_error>
#include <utility>

#include "base/assert.h"
#include "base/environment.h"
#include "base/log.h"
#include "base/per_process.h"
#include "libdat/backends/backend_choice.h"
#include "libdat/backends/device_settings.h"
#include "libdat/backends/lock_places.h"
#include "simnic/open.h"
#include "verbs/open.h"

namespace softdat::backends {
namespace {

using Devices = std::map<std::pair<std::string, std::string>, std::weak_ptr<hca::Device>>;  // by name and instance data

// A child made by fork() shares its parent's sockets and epoll sets and none of its threads: it must open devices of
// its own.
constinit base::PerProcess<Devices, locks::kOpenDevices> g_open_devices;

using OpenedDevice = hca::Result<std::shared_ptr<hca::Device>>;

OpenedDevice open_simulated(const DeviceChoice& choice) {
  const auto options = settle_options(choice);
  if (!options) return hca::fail(hca::Error::kNoDevice);
  std::shared_ptr<hca::Device> device = simnic::open_nic(*options);
  if (device == nullptr) return hca::fail(hca::Error::kNoDevice);
  return device;
}

// Whether the environment asks for what only the simulated adapter does; logged, then.
bool asks_for_simulated(const DeviceChoice& choice) {
  if (!base::environment(base::Variable::kFaults).empty()) {
    base::log(base::LogLevel::kError,
              "IA %s: SOFTDAT_FAULTS needs the simulated adapter; an RDMA device makes no faults", choice.name.c_str());
    return true;
  }
  const std::string_view seed = base::environment(base::Variable::kNasty);
  if (base::read_number(base::Variable::kNasty, seed).value_or(0) != 0) {
    base::log(base::LogLevel::kError,
              "IA %s: SOFTDAT_NASTY=%s needs the simulated adapter; unset it for an RDMA device", choice.name.c_str(),
              std::string(seed).c_str());
    return true;
  }
  if (base::environment(base::Variable::kProfile).empty()) return false;
  base::log(base::LogLevel::kError,
            "IA %s: SOFTDAT_PROFILE needs the simulated adapter; an RDMA device has its own limits",
            choice.name.c_str());
  return true;
}

OpenedDevice open_real(const DeviceChoice& choice, const BackendChoice& backend) {
  if (asks_for_simulated(choice)) return hca::fail(hca::Error::kNoDevice);
  auto device = verbs::open_device(backend.target);
  if (device) return std::shared_ptr<hca::Device>(std::move(device).value());
  if (backend.backend == Backend::kVerbsOrSim) {
    base::log(base::LogLevel::kNotice, "IA %s: simulated, for \"%s\" is no RDMA device here: %s", choice.name.c_str(),
              choice.instance.c_str(), device.reason().c_str());
    return open_simulated(choice);
  }
  base::log(base::LogLevel::kError, "IA %s: %s", choice.name.c_str(), device.reason().c_str());
  return hca::fail(hca::Error::kNoDevice);
}

}  // namespace

hca::Result<std::shared_ptr<hca::Device>> open_device(const DeviceChoice& choice) try {
  // Held while the device opens: a second opener of the same name waits, and shares it.
  const auto devices = g_open_devices.lock(static_cast<unsigned>(::getpid()));
  std::weak_ptr<hca::Device>& known = (*devices)[{choice.name, choice.instance}];
  if (auto device = known.lock()) return device;
  base::report_environment_mistakes();
  const auto backend = choose_backend(choice);
  if (!backend) return hca::fail(hca::Error::kNoDevice);
  auto device = backend->backend == Backend::kSim ? open_simulated(choice) : open_real(choice, *backend);
  SOFTDAT_DEBUG_CHECK(!device || *device != nullptr, "a device that opened is there");
  if (device) known = *device;
  return device;
} catch (const std::bad_alloc&) {
  return hca::fail(hca::Error::kNoMemory);
} catch (const std::system_error& error) {  // no thread, no descriptor
  base::log(base::LogLevel::kError, "IA %s cannot be opened: %s%s", choice.name.c_str(), error.what(),
            error.code() == std::errc::too_many_files_open ? "; raise the limit (ulimit -n)" : "");
  return hca::fail(hca::Error::kNoMemory);
}

}  // namespace softdat::backends
