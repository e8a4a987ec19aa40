// SPDX-License-Identifier: BSD-2-Clause
// EventCounters: what an EVD counts of its calls and callbacks, as DAT_EVD_COUNTERS.
//
// Owned by the EVD. Any thread. No call fails. INVARIANT: each dequeue is counted once, by how it ended: kDequeueFound
// (at once), kDequeuePollFound (by the device's progress) or kDequeueNotFound. The sums follow from these.
#pragma once

#include <cstddef>
#include <cstdint>

#include "libdat/object/counters.h"

namespace softdat::object {

class EventCounters : public CounterSet<evd_counter::kCount> {
 public:
  // A counter of evd_counter. Resets it if asked.
  std::uint64_t counter(std::size_t which, bool reset);
};

}  // namespace softdat::object
