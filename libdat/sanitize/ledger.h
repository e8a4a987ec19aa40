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

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/brief_lock.h"
#include "hca/memory_observer.h"
#include "libdat/object/endpoint_parameters.h"
#include "libdat/object/event.h"
#include "libdat/object/memory_region.h"
#include "libdat/sanitize/finding.h"
#include "libdat/sanitize/lock_places.h"
#include "libdat/sanitize/range_index.h"
#include "libdat/sanitize/records.h"

namespace softdat::sanitize {

// What an undefined field of an event is filled with.
inline constexpr unsigned char kVoidByte = 0xd5;
inline constexpr std::uint32_t kVoidWord = 0xd5d5d5d5;
inline constexpr std::uint64_t kVoidLong = 0xd5d5d5d5d5d5d5d5;

// The lmr_context that a program sees has this bit the other way round: it differs from the rmr_context.
inline constexpr std::uint32_t kLocalMark = 0x80000000;

// The arguments of a post.
struct Post {
  OperationKind kind = OperationKind::kSend;
  Handle queue = nullptr;
  std::span<const object::Segment> local = {};  // with the adapter's keys
  bool has_void_length = false;
  std::uint64_t cookie = 0;
  std::uint32_t flags = 0;  // object::CompletionFlag
  std::uint32_t rmr_context = 0;
  Site site = {};
};

// In words: "EP", "connection request" ...
const char* kind_text(Kind kind);

// Keeps the events of an EVD in order.
using Dequeuing = base::Ordered<base::BriefLock, locks::kDequeuing>;

using LedgerLock = base::Ordered<base::BriefLock, locks::kLedger>;

class Ledger final : public hca::MemoryObserver {
 public:
  static Ledger& instance();

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

  // Holds the order of the queue while the operation is posted. The operation stays in the ledger if accept() was
  // called.
  class Posting {
   public:
    Posting(Ledger& ledger, const Post& post);
    ~Posting();
    Posting(const Posting&) = delete;
    Posting& operator=(const Posting&) = delete;
    void accept() { is_accepted_ = true; }

   private:
    Ledger& ledger_;
    std::shared_ptr<QueueRecord> queue_;
    std::unique_lock<PostOrder> order_;
    Operation* operation_ = nullptr;
    bool is_accepted_ = false;
  };

  // There was no memory to keep a post. Its completion must not be taken for a doubled one.
  void miss_post() { has_missed_posts_.store(true); }

  // Endpoints and connections.
  void on_reconfigured(Handle ep);  // its EVDs may be others
  void on_bound(Handle ep);         // a bind was posted whose completion is wanted
  // The window is bound to memory of the region; with the length 0 it is not bound any more.
  void on_window(Handle rmr, std::uint32_t rmr_context, const object::Segment& memory, bool is_zero_based);
  // The memory that the rmr_context of a window or region names, as a local segment. Empty: not known.
  std::optional<object::Segment> find_sink(std::uint64_t address, std::uint32_t length, std::uint32_t rmr_context);
  void before_disconnect(Handle ep, bool is_graceful, const Site& site);
  void on_disconnected(Handle ep, const Site& site);
  void on_reset(Handle ep);
  // The program has looked at the state of the endpoint.
  void on_status_seen(Handle ep, const Site& site);
  void before_ep_free(Handle ep, const Site& site);

  // Events.
  void on_event(const object::Event& event, const Site& site);
  void on_no_event(Handle evd, const Site& site, bool has_waited_long);
  void on_wait_refused(Handle evd, const Site& site);
  void on_resized(Handle evd);
  void on_woken(Handle evd, const Site& site);
  void before_cno_wait(const Site& site);
  void on_cno_timeout(Handle cno, const Site& site);
  void before_evd_free(Handle evd);
  // Keeps events of one EVD in order while they are dequeued.
  static Dequeuing& dequeuing(Handle evd);

  // hca::MemoryObserver.
  void before_store(hca::StoreOrigin origin, std::span<std::byte> memory) noexcept override;
  void after_store(std::span<std::byte> memory) noexcept override;
  void after_peer_write(std::span<std::byte> memory) noexcept override;
  void on_peer_read(std::uint32_t rkey, bool is_atomic) noexcept override;

  // Private data that the program gets ends with `owner`, an EP or a connection request. In mode `full` returns memory
  // of its own with the same bytes, an access to which is then a finding; else, and without memory, what it was given.
  const void* watch_private_data(Handle owner, const void* data, std::size_t length, const Site& site);
  void end_private_data(Handle owner, const Site& site);
  // Memory that is about to be registered must be usable.
  static void before_registration(std::uint64_t address, std::uint64_t length);

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

  // ledger_posts.cc
  QueueRecord* find_queue_locked(Handle handle);
  void look_up_locked(QueueRecord& queue);
  std::unique_ptr<Operation> make_operation_locked(const Post& post, const QueueRecord& queue);
  void keep_spare_locked(std::unique_ptr<Operation> operation);
  void check_post_locked(const Post& post, const QueueRecord& queue, const Operation& operation);
  void check_keys_locked(const Post& post);
  void check_clash_locked(Operation& operation);
  void check_room_locked(const Operation& operation);
  void check_stack_locked(const Operation& operation);
  Operation* add(const Post& post, QueueRecord& queue);
  void take_back(QueueRecord& queue, const Operation* operation);
  void drop_queue(Handle handle);
  std::vector<Handle> queues_of(Handle ia);
  void forget_locked(Operation& operation);
  void forget_all_locked(QueueRecord& queue);
  bool is_settled_locked(const Operation& operation);
  bool is_brought_locked(const Operation& operation);
  void report_use_locked(Rule rule, const Operation& operation, const std::string& what, const Step& last);

  // ledger_events.cc
  void complete(const object::DtoCompletion& completion, const Site& site, std::unique_lock<LedgerLock>& lock);
  void take_completed_locked(const object::DtoCompletion& completion, const Site& site, OperationList& done);
  void report_doubled_locked(const object::DtoCompletion& completion, const QueueRecord& queue, const Site& site) const;
  QueueRecord* find_shared_queue_locked(std::uint64_t cookie) const;
  Leftover* find_leftover_locked(const object::DtoCompletion& completion);
  void take_leftover_locked(const object::DtoCompletion& completion);
  void check_completed(const Operation& operation, const object::DtoCompletion& completion, const Site& site);
  void note_connection_locked(const object::ConnectionNotice& notice, const Site& site);
  void check_receives_locked(Handle evd, const Site& site, bool has_waited_long);
  void note_failure_locked(QueueRecord& queue, const Operation& operation, const Site& site);
  void check_stacks_locked(const Site& site);

  // ledger_stores.cc
  static void note_arrival_locked(Operation& operation);
  void check_peer_write_locked(Operation& operation, const RangeIndex::Clash& clash);
  void note_peer_write_locked(std::uint64_t address);
  void end_unordered_locked(std::uint64_t address, std::uint64_t length) {
    if (!unordered_.empty()) open_unordered_locked(address, length);
  }
  void open_unordered_locked(std::uint64_t address, std::uint64_t length);
  void guard_locked(Operation& operation);
  bool is_registered_locked(const Range& range) const;
  static void unguard(Operation& operation);
  static void unguard_all(QueueRecord& queue);

  // ledger_ends.cc
  void check_region_locked(const RegionRecord& region, const Site& site);
  void check_lost_locked(QueueRecord& queue, const Site& site);
  void check_rights_locked(const RegionRecord& region, const Site& site);
  static bool uses(const Operation& operation, std::uint32_t lkey);
  bool is_over_locked(const QueueRecord& queue) const;
  bool is_error_locked(const object::Event& event) const;
  void check_mapped_locked(QueueRecord& queue, const std::uint32_t* lkey, const Site& site);
  void mark_completed_locked(QueueRecord& queue, bool is_graceful);
  void report_leaks_locked(Handle ia, const char* how, const Site& site);
  bool is_fed(Handle evd);
  std::vector<Handle> evds_of(Handle ia);
  void take_left_completions(Handle evd);
  void report_leftovers_locked(EvdRecord& evd);

  std::atomic<bool> has_missed_posts_{false};
  std::atomic<bool> has_read_{false};  // an RDMA read was posted
  LedgerLock mutex_;
  std::uint64_t number_ = 0;
  Handle void_handle_ = nullptr;
  std::unordered_map<Handle, ObjectRecord> objects_;
  std::unordered_map<Handle, std::shared_ptr<QueueRecord>> queues_;
  std::unordered_map<Handle, EvdRecord> evds_;
  std::unordered_map<std::uint32_t, RegionRecord> regions_;                 // by lkey
  std::unordered_map<Handle, std::uint32_t> lkeys_;                         // by LMR
  std::unordered_map<std::uint32_t, std::pair<Site, Site>> ended_regions_;  // by lkey: where made, and where freed
  std::unordered_map<Handle, std::uint32_t> freed_;  // by IA: a bit for each kind of object that was freed
  std::map<std::tuple<const void*, std::uint64_t, std::uint64_t>, std::uint32_t> registrations_;  // place and range
  std::map<std::pair<const void*, Handle>, std::uint32_t> used_registrations_;  // place and IA: LMRs used, and freed
  std::vector<Operation*> stacked_;                                             // outstanding, with a buffer on a stack
  std::uint64_t stacks_checked_ = 0;                                            // operations up to this number
  RangeIndex index_;
  OperationList spares_;     // for the next posts; never more than it has room for
  OperationList done_list_;  // empty, with room: for the next completion
  struct Window {
    std::uint32_t rmr_context = 0;
    object::Segment memory;  // as it was bound
    bool is_zero_based = false;
  };
  std::unordered_map<Handle, Window> windows_;  // by RMR
  std::vector<Range> unordered_;                // what peers wrote, guarded until the next event is dequeued
  struct PrivateData {
    std::uint64_t address = 0;
    std::uint64_t length = 0;
    Site made;
  };
  std::unordered_multimap<Handle, PrivateData> private_data_;  // by what it ends with
  std::size_t private_pages_ = 0;                              // all that there have been
};

}  // namespace softdat::sanitize
