// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace softdat::simnic {

// Where the only segment of a request lies, as the poster found it. Valid until a key is removed
// (MemoryTable::removals()), so later steps need not look the key up again. Default-constructed: nothing was found.
struct ResolvedSegment {
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t removals = kNever;  // before the poster looked
  std::byte* place = nullptr;       // means nothing if the segment is empty
};

}  // namespace softdat::simnic
