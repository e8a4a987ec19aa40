// SPDX-License-Identifier: BSD-2-Clause
// What an IA name, dat.conf's instance data and the environment together ask of the simulator.
#pragma once

#include <optional>
#include <string>

#include "libdat/backends/open_device.h"
#include "simnic/open.h"

namespace softdat::backends {

// Nothing, with the reason logged, when a word cannot be understood. The environment wins over the instance data, and
// that over the default: address 127.0.0.1 (simN: 127.0.0.N+1), transport auto.
//
// Instance data: blank-separated words "address=IP|INTERFACE", "transport=auto|shm|tcp|loop", "crc=on|off",
// "mpa=p2p|2|1", "rnr=wait|terminate", "direct=auto|on|off", "tcp_timeout=SECONDS", "connect_grace=MILLISECONDS", these
// two with the limits of their variables (base/environment.cc). Words without "=" mean nothing here: they choose the
// backend, see backend_choice.h.
std::optional<simnic::NicOptions> settle_options(const DeviceChoice& choice);

}  // namespace softdat::backends
