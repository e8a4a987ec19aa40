// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/sanitize/ledger_state.h"

#include <utility>

namespace softdat::sanitize {

// The parent's queues are leaked, because another thread may have held the lock of one.
void LedgerState::start_afresh_locked() {
  objects.clear();
  new std::unordered_map(std::move(queues));
  queues.clear();
  evds.clear();
  regions.clear();
  lkeys.clear();
  ended_regions.clear();
  freed.clear();
  registrations.clear();
  used_registrations.clear();
  stacked.clear();
  private_data.clear();
  index.clear();
  windows.clear();
  unordered.clear();
}

}  // namespace softdat::sanitize
