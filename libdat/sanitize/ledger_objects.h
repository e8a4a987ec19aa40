// SPDX-License-Identifier: BSD-2-Clause
// LedgerObjects: objects that the program makes and frees, and handles that are none any more.
//
// Owned by the Ledger. Any thread; each call takes the ledger's lock, and on_made() and on_freed() take
// QueueRecord::order before. A breach is reported. May throw std::bad_alloc.
#pragma once

#include <span>

#include "libdat/sanitize/ledger_queues.h"
#include "libdat/sanitize/ledger_state.h"
#include "libdat/sanitize/operation.h"
#include "libdat/sanitize/records.h"
#include "libdat/sanitize/site.h"

namespace softdat::sanitize {

class LedgerObjects {
 public:
  // All outlive this object.
  LedgerObjects(LedgerState& state, LedgerQueues& queues) : state_(state), queues_(queues) {}

  // `ia` of an IA is itself.
  void on_made(Handle handle, Kind kind, Handle ia, const Site& site);
  void on_freed(Handle handle, const Site& site);
  // A call with these handles was refused because one of them is none.
  void on_refused_handles(std::span<const Handle> handles, const Site& site);
  // The handle that stands in void fields of events.
  void set_void_handle(Handle handle);

 private:
  LedgerState& state_;
  LedgerQueues& queues_;
};

}  // namespace softdat::sanitize
