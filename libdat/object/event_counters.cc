// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/event_counters.h"

namespace softdat::object {

std::uint64_t EventCounters::counter(std::size_t which, bool reset) {
  const std::uint64_t polled = total(evd_counter::kDequeuePollFound);
  const std::uint64_t failed = total(evd_counter::kDequeueNotFound);
  std::uint64_t sum = total(which);
  if (which == evd_counter::kDequeueFound) sum += polled;
  if (which == evd_counter::kDequeuePoll) sum = polled + failed;
  if (which == evd_counter::kDequeue) sum = total(evd_counter::kDequeueFound) + polled + failed;
  return since_reset(which, sum, reset);
}

}  // namespace softdat::object
