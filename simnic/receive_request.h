// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "hca/result.h"
#include "hca/types.h"
#include "simnic/scatter_gather.h"
#include "simnic/work_queue.h"

namespace softdat::simnic {

// A receive as its queue keeps it; kInvalidArgument (too many segments, an unknown flag, too long
// together) or the fault of a segment.
hca::Result<RecvEntry> make_recv_entry(const MemoryView& memory, const hca::RecvRequest& request,
                                       std::uint32_t max_segments);

}  // namespace softdat::simnic
