// SPDX-License-Identifier: BSD-2-Clause
// What holds of every request, whichever kind of queue pair it is posted to.
#pragma once

#include <cstdint>
#include <span>

#include "hca/types.h"

namespace softdat::simnic {

inline constexpr std::uint32_t kSendFlags = hca::kSignaled | hca::kSolicited | hca::kFence | hca::kQuiet;
// Of all segments together.
inline constexpr std::uint64_t kMaxLength = 0xffff'ffff;

inline std::uint64_t total_length(std::span<const hca::Segment> segments) {
  std::uint64_t total = 0;
  for (const hca::Segment& segment : segments) total += segment.length;
  return total;
}

}  // namespace softdat::simnic
