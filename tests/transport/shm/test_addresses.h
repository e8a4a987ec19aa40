// SPDX-License-Identifier: BSD-2-Clause
// Where the two processes of a test are found. Other tests of this machine may run at the same
// time, so the service ids come from the process's number.
#pragma once

#include <unistd.h>

#include <cstdint>

namespace softdat::transport::shm {

inline constexpr std::uint32_t kParentAddress = 0x7f000101;
inline constexpr std::uint32_t kChildAddress = 0x7f000102;

inline std::uint64_t test_service() {
  return static_cast<std::uint64_t>(::getpid()) << 32 | 7;
}

}  // namespace softdat::transport::shm
