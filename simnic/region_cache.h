// SPDX-License-Identifier: BSD-2-Clause
// RegionCache: the memory region of the last request of a queue. Programs use few regions, so most posts find their
// segment here and need not look its key up.
//
// Guarded by the posting lock of the queue. What it remembers counts until a key is removed
// (MemoryTable::removals()), as what a ResolvedSegment says does.
#pragma once

#include <cstdint>
#include <span>

#include "simnic/located.h"
#include "simnic/scatter_gather.h"

namespace softdat::simnic {

class RegionCache {
 public:
  // As check_segments(), without the baton. REQUIRES: the memory and the rights are always the same.
  [[gnu::always_inline]] AccessError check(const MemoryView& memory, std::span<const hca::Segment> segments,
                                           hca::AccessMask rights, ResolvedSegment& found) {
    if (segments.size() == 1) [[likely]] {
      const hca::Segment& segment = segments.front();
      const std::uint64_t offset = segment.address - region_.address;
      const bool is_within = offset <= region_.length && segment.length <= region_.length - offset;
      if (segment.lkey == key_ && is_within && removals_ == memory.table.removals()) [[likely]] {
        found = {removals_, region_.place + offset};
        return AccessError::kNone;
      }
    }
    return look_up(memory, segments, rights, found);
  }

 private:
  [[gnu::noinline]] AccessError look_up(const MemoryView& memory, std::span<const hca::Segment> segments,
                                        hca::AccessMask rights, ResolvedSegment& found) {
    const AccessError fault = check_segments(memory, segments, rights, found);
    const bool is_one_region = fault == AccessError::kNone && segments.size() == 1 && segments.front().length > 0;
    if (!is_one_region || !memory.table.find_region(segments.front().lkey, region_)) return fault;
    key_ = segments.front().lkey;
    removals_ = found.removals;
    return fault;
  }

  std::uint32_t key_ = 0;
  std::uint64_t removals_ = ResolvedSegment::kNever;
  MemoryPlace region_{};
};

}  // namespace softdat::simnic
