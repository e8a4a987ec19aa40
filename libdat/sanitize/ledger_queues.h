// SPDX-License-Identifier: BSD-2-Clause
// LedgerQueues: the records of EPs and SRQs, each with its outstanding operations, and what is known of an operation's
// end.
//
// Owned by the Ledger. Any thread. Functions whose names end in _locked need the ledger's lock; the others take it. A
// record lives until its object is dropped; a post to it keeps it alive. Errors: none; to find a record may throw
// std::bad_alloc.
#pragma once

#include <cstdint>
#include <vector>

#include "libdat/sanitize/ledger_state.h"
#include "libdat/sanitize/operation.h"
#include "libdat/sanitize/records.h"

namespace softdat::sanitize {

class LedgerQueues {
 public:
  // The state outlives this object.
  explicit LedgerQueues(LedgerState& state) : state_(state) {}

  // The record of the EP or SRQ, which is made if there is none yet. Null: there is no such object.
  QueueRecord* find_locked(Handle handle);
  // The SRQ that has a receive with the cookie. Null: there is none.
  QueueRecord* find_shared_locked(std::uint64_t cookie) const;
  // The live EPs and SRQs of the adapter.
  std::vector<Handle> of(Handle ia);

  // The object has ended. Waits for a thread that posts to it at this moment, which uses its operation without the
  // ledger's lock: takes QueueRecord::order, then the ledger's lock.
  void drop(Handle handle);
  // The operation is out of the index and of the room of its EVD. The caller takes it out of its queue.
  void forget_locked(Operation& operation);

  // Whether the program may know that the operation is done, though it dequeues no completion for it.
  bool is_settled_locked(const Operation& operation);
  // The same for what uses its bytes.
  bool is_brought_locked(const Operation& operation);
  // Whether the program knows that no operation of the queue uses memory any more, or has no cause to think that one
  // does.
  bool is_over_locked(const QueueRecord& queue) const;

 private:
  void look_up_locked(QueueRecord& queue);
  void forget_all_locked(QueueRecord& queue);

  LedgerState& state_;
};

}  // namespace softdat::sanitize
