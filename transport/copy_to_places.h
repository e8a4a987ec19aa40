// SPDX-License-Identifier: BSD-2-Clause
// Copies the bytes of an arrived message to the places that the sink named. For carriers that have the bytes in memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "base/ordered_copy.h"
#include "transport/message.h"

namespace softdat::transport {

// Copies `bytes` from offset `done` on and adds each copied slice to `done`. False: a slice faults; `done` does not
// count it.
inline bool copy_to_places(const SliceList& slices, std::span<const std::byte> bytes, std::size_t& done) {
  for (const Slice& slice : slices.slices()) {
    const std::size_t part = std::min(slice.length, bytes.size() - done);
    if (!base::copy_ordered(slice.data, bytes.data() + done, part)) return false;
    done += part;
  }
  return true;
}

}  // namespace softdat::transport
