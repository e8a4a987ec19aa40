// SPDX-License-Identifier: BSD-2-Clause
// LedgerCompletions: completions of outstanding operations. A completion that the program dequeues ends its operation.
// One that the program never dequeues is reported.
//
// Owned by the Ledger. Any thread; those that dequeue from one EVD take turns (LedgerEvents::dequeuing). A breach is
// reported. std::bad_alloc leaves the operations outstanding; finish() forgets them in any case.
#pragma once

#include "libdat/object/event.h"
#include "libdat/sanitize/ledger_posts.h"
#include "libdat/sanitize/ledger_queues.h"
#include "libdat/sanitize/ledger_state.h"
#include "libdat/sanitize/operation.h"
#include "libdat/sanitize/records.h"
#include "libdat/sanitize/site.h"

namespace softdat::sanitize {

class LedgerCompletions {
 public:
  // All outlive this object.
  LedgerCompletions(LedgerState& state, LedgerQueues& queues, LedgerPosts& posts)
      : state_(state), queues_(queues), posts_(posts) {}

  // Takes the completed operation out of its queue, and the suppressed ones before it, which are done as well. With the
  // ledger's lock. finish() must follow with what it returns.
  OperationList take_locked(const object::DtoCompletion& completion, const Site& site);
  // Checks the buffers of the operations, and takes the operations for the next posts. Without the ledger's lock, which
  // it takes at its end.
  void finish(OperationList& done, const object::DtoCompletion& completion, const Site& site);

  // Dequeues what is left in the EVD, to learn which requests of freed EPs succeeded. REQUIRES: the EVD is about to
  // end; not the ledger's lock.
  void take_left(Handle evd);
  // Reports the completions of EPs that were freed, which were not dequeued from the EVD. Forgets them. With the
  // ledger's lock.
  static void report_leftovers_locked(EvdRecord& evd);

 private:
  void take_completed_locked(const object::DtoCompletion& completion, const Site& site, OperationList& done);
  void report_doubled_locked(const object::DtoCompletion& completion, const QueueRecord& queue, const Site& site) const;
  static void note_failure_locked(QueueRecord& queue, const Operation& operation, const Site& site);
  void take_leftover_locked(const object::DtoCompletion& completion);
  Leftover* find_leftover_locked(const object::DtoCompletion& completion);

  LedgerState& state_;
  LedgerQueues& queues_;
  LedgerPosts& posts_;
};

}  // namespace softdat::sanitize
