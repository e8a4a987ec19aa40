// SPDX-License-Identifier: BSD-2-Clause
// The ledger of the sanitizer: objects, registered memory, and outstanding operations of this process, as the program
// knows them. The entry points of libdat/api/sanitized_*.cc tell it of each call; it reports what breaks a rule.
//
// Knows no ABI. Any thread. Calls of the ledger may allocate, and throw std::bad_alloc, with which they have no effect
// that matters.
//
// Lock order: QueueRecord::order, the adapter's baton, the ledger's lock, locks of PageGuard and of findings. The
// adapter calls hca::MemoryObserver with its baton, so nothing may be called with the ledger's lock that takes the
// baton, or a lock under which others take it: of objects only what reads atomic members, and Endpoint::feeds(), which
// does not wait. A Pin may be dropped there: it owns no object. The thread that frees the object destroys it, after the
// last Pin, and holds no lock meanwhile (HandleTable::close). No std::shared_ptr of an object may be held there: its
// end may destroy a queue pair, which takes the baton.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hca/memory_observer.h"
#include "libdat/object/endpoint_parameters.h"
#include "libdat/object/event.h"
#include "libdat/object/memory_region.h"
#include "libdat/sanitize/finding.h"
#include "libdat/sanitize/ledger_buffers.h"
#include "libdat/sanitize/ledger_completions.h"
#include "libdat/sanitize/ledger_endpoints.h"
#include "libdat/sanitize/ledger_events.h"
#include "libdat/sanitize/ledger_guards.h"
#include "libdat/sanitize/ledger_posts.h"
#include "libdat/sanitize/ledger_private_data.h"
#include "libdat/sanitize/ledger_queues.h"
#include "libdat/sanitize/ledger_state.h"
#include "libdat/sanitize/marks.h"
#include "libdat/sanitize/range_index.h"
#include "libdat/sanitize/records.h"

namespace softdat::sanitize {

class Ledger final : public hca::MemoryObserver {
 public:
  static Ledger& instance();

  // The parts. They last as long as the ledger.
  LedgerPosts& posts() { return posts_; }
  LedgerEndpoints& endpoints() { return endpoints_; }
  LedgerEvents& events() { return events_; }
  LedgerPrivateData& private_data() { return private_data_; }

  // Objects. `ia` of an IA is itself.
  void on_made(Handle handle, Kind kind, Handle ia, const Site& site);
  void on_freed(Handle handle, const Site& site);
  // A call with these handles was refused because one of them is none.
  void on_refused_handles(std::span<const Handle> handles, const Site& site);
  // The handle that stands in void fields of events.
  void set_void_handle(Handle handle);

  // Registered memory.
  void on_registered(const object::MemoryRegionParameters& parameters, Handle lmr, const Site& site);
  // Before dat_lmr_free.
  void before_deregistration(Handle lmr, const Site& site);

  // The window is bound to memory of the region; with the length 0 it is not bound any more.
  void on_window(Handle rmr, std::uint32_t rmr_context, const object::Segment& memory, bool is_zero_based);
  // The memory that the rmr_context of a window or region names, as a local segment. Empty: not known.
  std::optional<object::Segment> find_sink(std::uint64_t address, std::uint32_t length, std::uint32_t rmr_context);

  // hca::MemoryObserver.
  void before_store(hca::StoreOrigin origin, std::span<std::byte> memory) noexcept override;
  void after_store(std::span<std::byte> memory) noexcept override;
  void after_peer_write(std::span<std::byte> memory) noexcept override;
  void on_peer_read(std::uint32_t rkey, bool is_atomic) noexcept override;

  // Ends.
  void before_close(Handle ia, const Site& site);
  void before_abrupt_close(Handle ia, const Site& site);
  void on_close_refused(Handle ia, const Site& site);
  void on_closed(Handle ia, bool is_graceful, const Site& site);

 private:
  Ledger();
  static void prepare_for_fork();
  static void continue_in_parent();
  static void start_afresh_in_child();

  // ledger_stores.cc
  void check_peer_write_locked(Operation& operation, const RangeIndex::Clash& clash);
  void note_peer_write_locked(std::uint64_t address);

  // ledger_ends.cc
  void check_rights_locked(const RegionRecord& region, const Site& site);
  bool is_error_locked(const object::Event& event) const;
  void report_leaks_locked(Handle ia, const char* how, const Site& site);

  LedgerState state_;
  LedgerGuards guards_{state_};
  LedgerPrivateData private_data_{state_};
  LedgerQueues queues_{state_};
  LedgerBuffers buffers_{state_, queues_};
  LedgerPosts posts_{state_, guards_, queues_, buffers_};
  LedgerCompletions completions_{state_, queues_, posts_};
  LedgerEndpoints endpoints_{state_, queues_, buffers_};
  LedgerEvents events_{state_, guards_, buffers_, completions_, endpoints_};
};

}  // namespace softdat::sanitize
