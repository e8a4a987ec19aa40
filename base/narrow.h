// SPDX-License-Identifier: BSD-2-Clause
// narrow(): converts a number to a narrower type that it is known to fit.
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>

#include "base/assert.h"

namespace softdat::base {

// Aborts if `value` does not fit. Numbers from a consumer or a peer must be checked before.
template <std::integral To, std::integral From>
constexpr To narrow(From value, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  const bool fits = std::in_range<To>(value);
  if (!fits) [[unlikely]]
    fail_assertion("a number fits the type that it is kept in", static_cast<std::uint64_t>(value), 0, file, line);
  return static_cast<To>(value);
}

}  // namespace softdat::base
