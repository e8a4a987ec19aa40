// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/sanitize/operation.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace softdat::sanitize {

const char* name_of(OperationKind kind) {
  constexpr std::array<const char*, 5> kNames{"receive", "send", "RDMA write", "RDMA read", "atomic operation"};
  return kNames[static_cast<std::size_t>(kind)];
}

Range main_range(const Operation& operation) {
  const auto& ranges = operation.ranges;
  if (ranges.empty()) return {};
  return *std::max_element(ranges.begin(), ranges.end(),
                           [](const Range& a, const Range& b) { return a.length < b.length; });
}

}  // namespace softdat::sanitize
