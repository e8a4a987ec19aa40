// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/sanitize/operation.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "libdat/sanitize/checksum.h"
#include "libdat/sanitize/settings.h"

namespace softdat::sanitize {

const char* name_of(OperationKind kind) {
  constexpr std::array<const char*, 5> kNames{"receive", "send", "RDMA write", "RDMA read", "atomic operation"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::optional<std::uint64_t> sum_of_buffer(const Operation& operation) {
  constexpr std::uint64_t kEnd = 64;
  std::uint64_t sum = 0;
  for (const Range& range : operation.ranges) {
    // Only in mode full is a large buffer summed up throughout; else its two ends stand for it.
    const bool is_whole = mode() == Mode::kFull || range.length <= 2 * kEnd;
    const auto head = checksum(range.address, is_whole ? range.length : kEnd, sum);
    if (!head) return std::nullopt;
    sum = *head;
    if (is_whole) continue;
    const auto tail = checksum(range.address + range.length - kEnd, kEnd, sum);
    if (!tail) return std::nullopt;
    sum = *tail;
  }
  return sum;
}

Range main_range(const Operation& operation) {
  const auto& ranges = operation.ranges;
  if (ranges.empty()) return {};
  return *std::max_element(ranges.begin(), ranges.end(),
                           [](const Range& a, const Range& b) { return a.length < b.length; });
}

}  // namespace softdat::sanitize
