// SPDX-License-Identifier: BSD-2-Clause
// LedgerEvents: events that the program dequeues, waits that end without one, and CNOs that wake it.
//
// Owned by the Ledger. Any thread; each call takes the ledger's lock. A breach is reported. May throw std::bad_alloc.
//
// Locks: dequeuing() is held around a dequeue and the call that tells of it, so before all other locks.
#pragma once

#include "base/lock_order.h"
#include "libdat/object/event.h"
#include "libdat/sanitize/ledger_buffers.h"
#include "libdat/sanitize/ledger_completions.h"
#include "libdat/sanitize/ledger_endpoints.h"
#include "libdat/sanitize/ledger_guards.h"
#include "libdat/sanitize/ledger_state.h"
#include "libdat/sanitize/lock_places.h"
#include "libdat/sanitize/operation.h"
#include "libdat/sanitize/records.h"
#include "libdat/sanitize/site.h"

namespace softdat::sanitize {

using Dequeuing = base::Mutex<locks::kDequeuing>;

class LedgerEvents {
 public:
  // All outlive this object.
  LedgerEvents(LedgerState& state, LedgerGuards& guards, LedgerBuffers& buffers, LedgerCompletions& completions,
               LedgerEndpoints& endpoints)
      : state_(state), guards_(guards), buffers_(buffers), completions_(completions), endpoints_(endpoints) {}

  // Keeps events of one EVD in order while they are dequeued.
  static Dequeuing& dequeuing(Handle evd);
  // In a child made by fork(), whose parent's threads may hold those locks.
  static void start_afresh_in_child();

  void on_event(const object::Event& event, const Site& site);
  void on_no_event(Handle evd, const Site& site, bool has_waited_long);
  void on_wait_refused(Handle evd, const Site& site);
  void on_resized(Handle evd);
  void before_evd_free(Handle evd);

  // The CNO has answered the program with this EVD.
  void on_woken(Handle evd, const Site& site);
  void before_cno_wait(const Site& site);
  void on_cno_timeout(Handle cno, const Site& site);

 private:
  // Tells of the event. The operations that have completed with it are out of their queues.
  OperationList take_locked(const object::Event& event, const Site& site);
  // `record` is that of the EVD.
  void check_receives_locked(Handle evd, EvdRecord& record, const Site& site, bool has_waited_long);

  LedgerState& state_;
  LedgerGuards& guards_;
  LedgerBuffers& buffers_;
  LedgerCompletions& completions_;
  LedgerEndpoints& endpoints_;
};

}  // namespace softdat::sanitize
