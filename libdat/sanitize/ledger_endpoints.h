// SPDX-License-Identifier: BSD-2-Clause
// LedgerEndpoints: endpoints and their connections: what the program does with them, and what it knows of their ends.
//
// Owned by the Ledger. Any thread. Functions whose names end in _locked need the ledger's lock; the others take it. A
// breach is reported. May throw std::bad_alloc.
#pragma once

#include "libdat/object/event.h"
#include "libdat/sanitize/ledger_buffers.h"
#include "libdat/sanitize/ledger_queues.h"
#include "libdat/sanitize/ledger_state.h"
#include "libdat/sanitize/operation.h"
#include "libdat/sanitize/records.h"
#include "libdat/sanitize/site.h"

namespace softdat::sanitize {

class LedgerEndpoints {
 public:
  // All outlive this object.
  LedgerEndpoints(LedgerState& state, LedgerQueues& queues, LedgerBuffers& buffers)
      : state_(state), queues_(queues), buffers_(buffers) {}

  void on_reconfigured(Handle ep);  // its EVDs may be others
  void on_bound(Handle ep);         // a bind was posted whose completion is wanted
  // The program has looked at the state of the endpoint.
  void on_status_seen(Handle ep, const Site& site);
  // The program dequeues what has become of the connection.
  void note_connection_locked(const object::ConnectionNotice& notice, const Site& site);

  void before_disconnect(Handle ep, bool is_graceful, const Site& site);
  void on_disconnected(Handle ep, const Site& site);
  void on_reset(Handle ep);
  void before_free(Handle ep, const Site& site);

 private:
  static void mark_completed_locked(QueueRecord& queue, bool is_graceful);
  static void check_lost_locked(QueueRecord& queue, const Site& site);

  LedgerState& state_;
  LedgerQueues& queues_;
  LedgerBuffers& buffers_;
};

}  // namespace softdat::sanitize
