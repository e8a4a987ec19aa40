// SPDX-License-Identifier: BSD-2-Clause
// LedgerState: what the ledger knows of objects, registered memory and outstanding operations. Its parts share it.
//
// Owned by the Ledger. `mutex` guards every member, unless the member says otherwise; ledger.h has the order of locks.
// A function whose name ends in _locked needs the lock, and a change to a container may throw std::bad_alloc.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/lock_order.h"
#include "libdat/sanitize/lock_places.h"
#include "libdat/sanitize/range_index.h"
#include "libdat/sanitize/records.h"

namespace softdat::sanitize {

using LedgerLock = base::Mutex<locks::kLedger>;

struct LedgerState {
  LedgerState() { spares.reserve(kSpares); }

  // Forgets everything that a child of fork() does not have. The child's only thread calls it, with the lock.
  void start_afresh_locked();

  LedgerLock mutex;
  std::uint64_t number = 0;  // counts the posts and empty answers of the process

  // Objects.
  std::unordered_map<Handle, ObjectRecord> objects;
  std::unordered_map<Handle, std::uint32_t> freed;  // by IA: a bit for each kind of object that was freed
  Handle void_handle = nullptr;                     // stands in void fields of events

  // EPs and SRQs, and the operations that are outstanding there.
  std::unordered_map<Handle, std::shared_ptr<QueueRecord>> queues;
  RangeIndex index;
  std::vector<Operation*> stacked;            // outstanding, with a buffer on a stack
  std::uint64_t stacks_checked = 0;           // operations up to this number
  OperationList spares;                       // for the next posts; never more than it has room for
  OperationList done_list;                    // empty, with room: for the next completion
  std::atomic<bool> has_missed_posts{false};  // without the lock: there was no memory to keep a post
  std::atomic<bool> has_read{false};          // without the lock: an RDMA read was posted

  std::unordered_map<Handle, EvdRecord> evds;

  // Registered memory.
  std::unordered_map<std::uint32_t, RegionRecord> regions;                 // by lkey
  std::unordered_map<Handle, std::uint32_t> lkeys;                         // by LMR
  std::unordered_map<std::uint32_t, std::pair<Site, Site>> ended_regions;  // by lkey: where made, and where freed
  std::map<std::tuple<const void*, std::uint64_t, std::uint64_t>, std::uint32_t> registrations;  // place and range
  std::map<std::pair<const void*, Handle>, std::uint32_t> used_registrations;  // place and IA: LMRs used, and freed
  std::unordered_map<Handle, WindowRecord> windows;                            // by RMR

  // Guarded memory.
  std::vector<Range> unordered;  // what peers wrote, guarded until the next event is dequeued
  std::unordered_multimap<Handle, PrivateDataRecord> private_data;  // by what it ends with
  std::size_t private_pages = 0;                                    // all that there have been
};

}  // namespace softdat::sanitize
