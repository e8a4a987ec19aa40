// SPDX-License-Identifier: BSD-2-Clause
// How a receive is checked and queued, for all queues that take receives: connected, shared and datagram. Inline,
// because every post of a receive passes through. REQUIRES of both functions: the posting lock of the queue. Neither
// allocates.
#pragma once

#include <limits>
#include <new>

#include "hca/request_rules.h"
#include "hca/result.h"
#include "hca/types.h"
#include "simnic/fault.h"
#include "simnic/region_cache.h"
#include "simnic/scatter_gather.h"
#include "simnic/work_queue.h"

namespace softdat::simnic {

static_assert(hca::kRecvFlags <= std::numeric_limits<decltype(RecvEntry::flags)>::max());
static_assert(hca::kMaxLength <= std::numeric_limits<decltype(RecvEntry::length)>::max());

// kInvalidArgument (too many segments, an unknown flag, too long together) or the fault of a segment. Changes nothing
// but `regions` and `found`, which push_receive() takes: where the segment lies.
[[gnu::always_inline]] inline hca::Outcome check_receive(const MemoryView& memory, RegionCache& regions,
                                                         const hca::RecvRequest& request, std::uint32_t max_segments,
                                                         ResolvedSegment& found) {
  const std::uint64_t length = hca::total_length(request.local);
  if (!hca::is_well_formed(request, length) || request.local.size() > max_segments) {
    return hca::fail(hca::Error::kInvalidArgument);
  }
  const AccessError fault = regions.check(memory, request.local, hca::kLocalWrite, found);
  if (fault != AccessError::kNone) return hca::fail(error_of(fault));
  return hca::Done{};
}

// Posts a receive that check_receive() has found good. REQUIRES: room. Returns its length in bytes.
[[gnu::always_inline]] inline std::uint64_t push_receive(const hca::RecvRequest& request, const ResolvedSegment& found,
                                                         WorkQueue<RecvEntry>& queue) {
  const std::uint64_t length = hca::total_length(request.local);
  new (&queue.free_slot()) RecvEntry{.wr_id = request.wr_id,
                                     .length = static_cast<std::uint32_t>(length),
                                     .flags = static_cast<std::uint16_t>(request.flags),
                                     .segment_count = static_cast<std::uint16_t>(request.local.size()),
                                     .found = {found.removals, found.place}};  // as in write_entry(), send_posts.cc
  queue.publish(request.local);
  return length;
}

}  // namespace softdat::simnic
