// SPDX-License-Identifier: BSD-2-Clause
// Which TCP ports serve a 64-bit service id (docs/WIRE.md, "Ports").
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace softdat::transport::tcp {

inline constexpr std::uint16_t kFirstProbePort = 20000;
inline constexpr std::uint16_t kProbePorts = 10000;
inline constexpr std::size_t kProbeCount = 16;

// True of an id that is itself a TCP port.
constexpr bool is_port(std::uint64_t service_id) {
  return service_id >= 1 && service_id <= 65535;
}

// The ports, in the order both sides try them: the listener takes the first it may have, the
// connector goes on until one serves the id. An id that is an unprivileged port has that port
// only; a privileged one is followed by the probe sequence, because the listener may not have been
// allowed to use it.
std::vector<std::uint16_t> ports_of(std::uint64_t service_id);

}  // namespace softdat::transport::tcp
