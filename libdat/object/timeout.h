// SPDX-License-Identifier: BSD-2-Clause
// DAT_TIMEOUT: microseconds in 32 bits, all ones for ever.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace softdat::object {

inline constexpr std::uint32_t kTimeoutInfinite = 0xffffffff;

constexpr base::Duration duration_of(std::uint32_t timeout_us) {
  if (timeout_us == kTimeoutInfinite) return base::Duration::max();
  return std::chrono::microseconds(timeout_us);
}

}  // namespace softdat::object
