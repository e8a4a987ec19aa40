// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "hca/request_rules.h"
#include "hca/result.h"
#include "hca/types.h"
#include "simnic/fault.h"
#include "simnic/scatter_gather.h"
#include "simnic/work_queue.h"

namespace softdat::simnic {

// A receive as its queue keeps it; kInvalidArgument (too many segments, an unknown flag, too long
// together) or the fault of a segment.
[[gnu::always_inline]] inline hca::Result<RecvEntry> make_recv_entry(const MemoryView& memory,
                                                                     const hca::RecvRequest& request,
                                                                     std::uint32_t max_segments) {
  const std::uint64_t length = hca::total_length(request.local);
  if (!hca::is_well_formed(request, length) || request.local.size() > max_segments) {
    return hca::fail(hca::Error::kInvalidArgument);
  }
  ResolvedSegment found;
  const AccessError fault = check_segments(memory, request.local, hca::kLocalWrite, found);
  if (fault != AccessError::kNone) return hca::fail(error_of(fault));
  return RecvEntry{.wr_id = request.wr_id,
                   .length = length,
                   .flags = request.flags,
                   .segment_count = static_cast<std::uint16_t>(request.local.size()),
                   .found = found};
}

}  // namespace softdat::simnic
