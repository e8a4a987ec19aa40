// SPDX-License-Identifier: BSD-2-Clause
// Ledger: what the sanitizer knows of the program: objects, registered memory and outstanding operations of this
// process. The entry points of libdat/api/sanitized_*.cc tell it of each call; it reports what breaks a rule.
//
// The ledger is made of parts, one for each concern, that it owns by value: guards, private data, queues, buffers,
// posts, completions, endpoints, events, regions, objects, stores, closes. They share one state with one lock
// (ledger_state.h). Each says in its header what it does, which locks it takes and what it reports. The ledger gives
// out those that entry points call, and keeps the state whole in a fork().
//
// Knows no ABI. Any thread. Calls of the parts may allocate, and throw std::bad_alloc, with which they have no effect
// that matters.
//
// Lock order: QueueRecord::order or LedgerEvents::dequeuing(), the adapter's baton, LedgerState::mutex, locks of
// PageGuard and of findings. The adapter calls hca::MemoryObserver with its baton, so nothing may be called with
// LedgerState::mutex that takes the baton, or a lock under which others take it: of objects only what reads atomic
// members, and Endpoint::feeds(), which does not wait. A Pin may be dropped there: it owns no object. The thread that
// frees the object destroys it, after the last Pin, and holds no lock meanwhile (HandleTable::close). No
// std::shared_ptr of an object may be held there: its end may destroy a queue pair, which takes the baton.
#pragma once

#include <atomic>

#include "libdat/sanitize/ledger_buffers.h"
#include "libdat/sanitize/ledger_closes.h"
#include "libdat/sanitize/ledger_completions.h"
#include "libdat/sanitize/ledger_endpoints.h"
#include "libdat/sanitize/ledger_events.h"
#include "libdat/sanitize/ledger_guards.h"
#include "libdat/sanitize/ledger_objects.h"
#include "libdat/sanitize/ledger_posts.h"
#include "libdat/sanitize/ledger_private_data.h"
#include "libdat/sanitize/ledger_queues.h"
#include "libdat/sanitize/ledger_regions.h"
#include "libdat/sanitize/ledger_state.h"
#include "libdat/sanitize/ledger_stores.h"

namespace softdat::sanitize {

class Ledger {
 public:
  // The ledger of this process. The ledger and its parts last until the process ends.
  static Ledger& instance();

  LedgerObjects& objects() { return objects_; }
  LedgerRegions& regions() { return regions_; }
  LedgerPosts& posts() { return posts_; }
  LedgerEndpoints& endpoints() { return endpoints_; }
  LedgerEvents& events() { return events_; }
  LedgerPrivateData& private_data() { return private_data_; }
  LedgerStores& stores() { return stores_; }
  LedgerCloses& closes() { return closes_; }

 private:
  Ledger();
  // Around a fork(): the lock is held meanwhile.
  static void prepare_for_fork();
  static void continue_in_parent();
  static void start_afresh_in_child();
  [[gnu::constructor(102)]] static void hold_in_forks();
  [[gnu::constructor]] static void go_on_after_forks();

  static std::atomic<Ledger*> process_;  // used until the very end of the process

  LedgerState state_;
  LedgerGuards guards_{state_};
  LedgerPrivateData private_data_{state_};
  LedgerQueues queues_{state_};
  LedgerBuffers buffers_{state_, queues_};
  LedgerPosts posts_{state_, guards_, queues_, buffers_};
  LedgerCompletions completions_{state_, queues_, posts_};
  LedgerEndpoints endpoints_{state_, queues_, buffers_};
  LedgerEvents events_{state_, guards_, buffers_, completions_, endpoints_};
  LedgerRegions regions_{state_, guards_, buffers_};
  LedgerObjects objects_{state_, queues_};
  LedgerStores stores_{state_, guards_, queues_};
  LedgerCloses closes_{state_, queues_, completions_, endpoints_};
};

}  // namespace softdat::sanitize
