// SPDX-License-Identifier: BSD-2-Clause
// Connection qualifiers for dat_psp_create_any: not privileged, and of 16 bits, so that they are TCP ports too.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "libdat/object/status.h"

namespace softdat::object {

inline constexpr std::uint32_t kFirstFreeQualifier = 1024;
inline constexpr std::uint32_t kFreeQualifiers = 65536 - kFirstFreeQualifier;

// Any thread. Processes start at different numbers, so that they seldom choose the same.
inline std::uint16_t next_free_qualifier() {
  static constinit std::atomic<std::uint32_t> given{0};
  const std::uint32_t first = static_cast<std::uint32_t>(::getpid()) * 2654435761u;
  const std::uint32_t number = first + given.fetch_add(1, std::memory_order_relaxed);
  return static_cast<std::uint16_t>(kFirstFreeQualifier + number % kFreeQualifiers);
}

// Calls `attempt` with one candidate after the other until it returns another type than `taken`, or all were tried.
// Returns its last result.
template <typename Attempt>
Status try_free_qualifiers(const Attempt& attempt, StatusType taken) {
  Status status{taken};
  for (std::uint32_t tries = 0; tries < kFreeQualifiers && status.type == taken; ++tries) {
    status = attempt(next_free_qualifier());
  }
  return status;
}

}  // namespace softdat::object
