// SPDX-License-Identifier: BSD-2-Clause
// LedgerBuffers: whether the buffers of operations are still what they were at the post: mapped, registered, on the
// stack of a function that runs, and with the same bytes.
//
// Owned by the Ledger. Any thread, with the ledger's lock unless a function says otherwise. A breach is reported, and
// nothing fails but by std::bad_alloc.
#pragma once

#include <cstdint>
#include <string>

#include "libdat/object/event.h"
#include "libdat/sanitize/finding.h"
#include "libdat/sanitize/ledger_queues.h"
#include "libdat/sanitize/ledger_state.h"
#include "libdat/sanitize/operation.h"
#include "libdat/sanitize/records.h"

namespace softdat::sanitize {

class LedgerBuffers {
 public:
  // All outlive this object.
  LedgerBuffers(LedgerState& state, LedgerQueues& queues) : state_(state), queues_(queues) {}

  // Outstanding operations of the queue that use the region, or any region if `lkey` is null: their memory must be
  // mapped.
  void check_mapped_locked(QueueRecord& queue, const std::uint32_t* lkey, const Site& site);
  // The region is freed: no outstanding operation may use it.
  void check_freed_locked(const RegionRecord& region, const Site& site);
  // Outstanding operations whose buffers were local variables of functions that have returned.
  void check_stacks_locked(const Site& site);
  // The same, if one of them was posted since the last check.
  void check_new_stacks_locked(const Site& site) {
    if (!state_.stacked.empty() && state_.stacked.back()->number > state_.stacks_checked) check_stacks_locked(site);
  }
  // The operation has completed. Reads its buffer, so it is called without the ledger's lock.
  static void check_completed(const Operation& operation, const object::DtoCompletion& completion, const Site& site);

  // Reports a use of memory that the operation uses. It begins with the post and ends with `last`.
  void report_use_locked(Rule rule, const Operation& operation, const std::string& what, const Step& last);

 private:
  LedgerState& state_;
  LedgerQueues& queues_;
};

}  // namespace softdat::sanitize
