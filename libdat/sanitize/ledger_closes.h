// SPDX-License-Identifier: BSD-2-Clause
// LedgerCloses: adapters that the program closes, and what it has left of them.
//
// Owned by the Ledger. Any thread. Each call takes the ledger's lock; before_close() asks the adapter for events
// without it, and on_closed() takes QueueRecord::order before it. A breach is reported. May throw std::bad_alloc.
#pragma once

#include <vector>

#include "libdat/object/event.h"
#include "libdat/sanitize/ledger_completions.h"
#include "libdat/sanitize/ledger_endpoints.h"
#include "libdat/sanitize/ledger_queues.h"
#include "libdat/sanitize/ledger_state.h"
#include "libdat/sanitize/operation.h"
#include "libdat/sanitize/site.h"

namespace softdat::sanitize {

class LedgerCloses {
 public:
  // All outlive this object.
  LedgerCloses(LedgerState& state, LedgerQueues& queues, LedgerCompletions& completions, LedgerEndpoints& endpoints)
      : state_(state), queues_(queues), completions_(completions), endpoints_(endpoints) {}

  void before_close(Handle ia, const Site& site);
  void before_abrupt_close(Handle ia, const Site& site);
  // A graceful close was refused, because objects are left.
  void on_close_refused(Handle ia, const Site& site);
  void on_closed(Handle ia, bool is_graceful, const Site& site);

 private:
  std::vector<Handle> evds_of(Handle ia);
  void report_leaks_locked(Handle ia, const char* how, const Site& site);
  bool is_error_locked(const object::Event& event) const;

  LedgerState& state_;
  LedgerQueues& queues_;
  LedgerCompletions& completions_;
  LedgerEndpoints& endpoints_;
};

}  // namespace softdat::sanitize
