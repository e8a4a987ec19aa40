// SPDX-License-Identifier: BSD-2-Clause
// Port numbers of queue pairs that are unique across processes, for captures and timelines.
#pragma once

#include <cstdint>

namespace softdat::simnic {

// NicConfig::port_base of adapter `adapter` of process `process`, both counted from 0. Processes of one host may have
// the same address. So that their connections differ, each has ports of its own, while there are enough of them.
constexpr std::uint32_t port_base_of(std::uint32_t process, std::uint32_t adapter) {
  constexpr std::uint32_t kPortsOfProcess = 512;
  constexpr std::uint32_t kPortsOfAdapter = 128;
  constexpr std::uint32_t kPorts = 0x8000;
  return (process * kPortsOfProcess + adapter * kPortsOfAdapter) % kPorts;
}

}  // namespace softdat::simnic
