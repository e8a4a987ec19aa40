// SPDX-License-Identifier: BSD-2-Clause
// LedgerGuards: which buffers of outstanding operations, and which writes of peers, are guarded: an access of the
// program to guarded pages is a finding (page_guard.h). Only mode `full` guards, and only whole pages.
//
// Owned by the Ledger. Any thread, with the ledger's lock, which is taken before that of PageGuard. A guard that cannot
// be made is left out; to make one may throw std::bad_alloc.
#pragma once

#include <cstdint>

#include "libdat/sanitize/ledger_state.h"
#include "libdat/sanitize/operation.h"
#include "libdat/sanitize/records.h"

namespace softdat::sanitize {

class LedgerGuards {
 public:
  // The state outlives this object.
  explicit LedgerGuards(LedgerState& state) : state_(state) {}

  // Guards the buffer that the operation stores into. A buffer that is guarded, or whose connection has ended, is left
  // as it is.
  void guard_locked(Operation& operation);
  // Ends the guard of the operation's buffer, or of all buffers of the queue.
  static void unguard_locked(Operation& operation);
  static void unguard_all_locked(QueueRecord& queue);

  // Guards what a peer wrote, if it lies in one region, until an event is dequeued.
  void guard_unordered_locked(const Range& range);
  // Ends the guard of what peers wrote into [address, address + length), or beside it.
  void end_unordered_locked(std::uint64_t address, std::uint64_t length) {
    if (!state_.unordered.empty()) open_unordered_locked(address, length);
  }

  // Memory that is about to be registered must be usable. Without the ledger's lock, too.
  static void before_registration(std::uint64_t address, std::uint64_t length);

 private:
  bool is_registered_locked(const Range& range) const;
  void open_unordered_locked(std::uint64_t address, std::uint64_t length);

  LedgerState& state_;
};

}  // namespace softdat::sanitize
