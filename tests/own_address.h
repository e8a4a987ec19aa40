// SPDX-License-Identifier: BSD-2-Clause
// Tests run at the same time, and listen for the same services: each process has loopback addresses of its own.
#pragma once

#include <unistd.h>

#include <cstdint>

namespace softdat {

// An IPv4 address in host order, another for each number from 0 to 3: a quarter of 127.0.0.0/8 for each number, and
// within it the process id, which has 22 bits.
inline std::uint32_t own_loopback_address(std::uint32_t number) {
  const auto process = static_cast<std::uint32_t>(::getpid()) & 0x3fffff;
  return 0x7f000000 | ((number & 3) << 22) | process;
}

}  // namespace softdat
