// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/scatter_gather.h"

#include <algorithm>

namespace softdat::simnic {

AccessError check_segments(const MemoryView& memory, std::span<const hca::Segment> segments, hca::AccessMask rights) {
  for (const hca::Segment& segment : segments) {
    const AccessError fault = memory.check(segment.lkey, segment.address, segment.length, rights);
    if (fault != AccessError::kNone) return fault;
  }
  return AccessError::kNone;
}

AccessError check_segments(const MemoryView& memory, std::span<const hca::Segment> segments, hca::AccessMask rights,
                           ResolvedSegment& found) {
  if (segments.size() != 1) return check_segments(memory, segments, rights);
  // Read before the lookup: a key that is removed in between makes the result stale at once.
  const std::uint64_t removals = memory.table.removals();
  const hca::Segment& segment = segments.front();
  const AccessError fault = memory.locate(segment.lkey, segment.address, segment.length, rights, found.place);
  if (fault == AccessError::kNone) found.removals = removals;
  return fault;
}

void explain_segments(const MemoryView& memory, std::span<const hca::Segment> segments, hca::AccessMask rights,
                      hca::Failure& to) {
  if (segments.empty()) return;
  const auto is_refused = [&](const hca::Segment& segment) {
    return memory.check(segment.lkey, segment.address, segment.length, rights) != AccessError::kNone;
  };
  const auto refused = std::find_if(segments.begin(), segments.end(), is_refused);
  const hca::Segment& segment = refused == segments.end() ? segments.front() : *refused;
  memory.table.explain(segment.lkey, segment.address, segment.length, rights, memory.who, to);
  to.is_local = true;
}

AccessError resolve(const MemoryView& memory, std::span<const hca::Segment> segments, hca::AccessMask rights,
                    std::uint64_t offset, std::uint64_t length, transport::SliceList& out) {
  for (const hca::Segment& segment : segments) {
    if (length == 0) break;
    if (offset >= segment.length) {
      offset -= segment.length;
      continue;
    }
    std::byte* place = nullptr;
    const AccessError fault = memory.locate(segment.lkey, segment.address, segment.length, rights, place);
    if (fault != AccessError::kNone) return fault;
    const std::uint64_t part = std::min(length, segment.length - offset);
    // The list is full. The caller gathers the rest by another call.
    if (!out.add(place + offset, part)) break;
    length -= part;
    offset = 0;
  }
  return AccessError::kNone;
}

}  // namespace softdat::simnic
