// SPDX-License-Identifier: BSD-2-Clause
// From a list of segments to the bytes in this process that a part of it covers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "hca/request_rules.h"
#include "hca/types.h"
#include "simnic/located.h"
#include "simnic/memory_table.h"
#include "transport/message.h"

namespace softdat::simnic {

// The table, and on whose behalf it is asked; fixed for a queue pair's life.
struct MemoryView {
  MemoryTable& table;
  Accessor who;

  AccessError check(std::uint32_t key, std::uint64_t address, std::uint64_t length, hca::AccessMask rights) const {
    return table.check(key, address, length, rights, who);
  }
  AccessError locate(std::uint32_t key, std::uint64_t address, std::uint64_t length, hca::AccessMask rights,
                     std::byte*& place) const {
    return table.locate(key, address, length, rights, who, place);
  }
};

// What a request needs to be allowed to do to its local segments.
constexpr hca::AccessMask local_rights(hca::SendOpcode opcode) {
  const hca::AccessMask written = hca::written_right(opcode);
  return written == 0 ? kLocalRead : written;
}

// The first fault among the segments, each checked whole.
AccessError check_segments(const MemoryView& memory, std::span<const hca::Segment> segments, hca::AccessMask rights);
// The same without the baton, for a request that is to be carried out later: remembers where its only segment lies.
AccessError check_segments(const MemoryView& memory, std::span<const hca::Segment> segments, hca::AccessMask rights,
                           ResolvedSegment& found);

// With the baton or a listed lane: whether what was found still holds. It then holds until that is given back.
inline bool still_holds(const MemoryView& memory, const ResolvedSegment& found) {
  return found.removals == memory.table.removals();
}

// Why check_segments() refuses them, or, where it does not, that the memory of the first cannot be accessed. Slow.
void explain_segments(const MemoryView& memory, std::span<const hca::Segment> segments, hca::AccessMask rights,
                      hca::Failure& to);

// Adds slices for the bytes [offset, offset + length) of what the segments make together, checking
// each segment that it touches. Covers less when the list is full or the segments end.
AccessError resolve(const MemoryView& memory, std::span<const hca::Segment> segments, hca::AccessMask rights,
                    std::uint64_t offset, std::uint64_t length, transport::SliceList& out);

// The same with the baton, for segments that check_segments() has looked at with the same rights.
inline AccessError resolve(const MemoryView& memory, const ResolvedSegment& found,
                           std::span<const hca::Segment> segments, hca::AccessMask rights, std::uint64_t offset,
                           std::uint64_t length, transport::SliceList& out) {
  if (!still_holds(memory, found)) return resolve(memory, segments, rights, offset, length, out);
  const std::uint64_t size = segments.front().length;
  if (length > 0 && offset < size) out.add(found.place + offset, std::min(length, size - offset));
  return AccessError::kNone;
}

}  // namespace softdat::simnic
