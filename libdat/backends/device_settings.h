// SPDX-License-Identifier: BSD-2-Clause
// What an IA name, dat.conf's instance data and the environment together ask for.
#pragma once

#include <optional>
#include <string>

#include "libdat/backends/open_device.h"
#include "simnic/open.h"

namespace softdat::backends {

// Nothing, with the reason logged, when a word cannot be understood or a backend is not to be had. The environment wins
// over the instance data, and that over the default: address 127.0.0.1 (simN: 127.0.0.N+1), transport auto.
//
// Instance data: blank-separated words "address=IPV4|INTERFACE", "transport=auto|shm|tcp", "crc=on|off",
// "rnr=wait|terminate", and the backend, "sim" or "verbs[:DEVICE]". Words without "=" that stock configurations carry
// ("ib0 0") mean nothing here.
std::optional<simnic::NicOptions> settle_options(const DeviceChoice& choice);

}  // namespace softdat::backends
