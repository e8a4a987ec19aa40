// SPDX-License-Identifier: BSD-2-Clause
// AdapterCounters: what an IA counts of its objects and connections, as DAT_IA_COUNTERS.
//
// Owned by the IA. Any thread. No call fails.
#pragma once

#include <cstddef>
#include <cstdint>

#include "libdat/object/counters.h"
#include "libdat/object/object.h"

namespace softdat::object {

class AdapterCounters : public CounterSet<ia_counter::kCount> {
 public:
  // An object of this kind was created or freed.
  void add_created(Kind kind);
  void add_freed(Kind kind);

  // A counter of ia_counter. Resets it if asked.
  std::uint64_t counter(std::size_t which, bool reset) { return since_reset(which, total(which), reset); }
};

}  // namespace softdat::object
