// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/sanitize/ledger_stores.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <string>

#include "libdat/object/failure_text.h"
#include "libdat/object/memory_region.h"
#include "libdat/sanitize/finding.h"
#include "libdat/sanitize/page_guard.h"
#include "libdat/sanitize/settings.h"

namespace softdat::sanitize {
namespace {

Range range_of(std::span<std::byte> memory) {
  return {.address = reinterpret_cast<std::uintptr_t>(memory.data()), .length = memory.size(), .lkey = 0};
}

void check_untouched(const Operation& operation) {
  if (!operation.before) return;
  const auto now = sum_of_buffer(operation);
  if (!now || now == operation.before) return;
  if (is_repeated(Rule::kEarlyAccess, operation.posted, operation.posted)) return;
  const Range range = main_range(operation);
  report({Rule::kEarlyAccess,
          "The buffer " + object::range_text(range.address, range.length) + " of the outstanding " +
              name_of(operation.kind) + " was changed before its data came.",
          {{"posted", operation.posted}}});
}

}  // namespace

// The adapter calls this with its own locks held, so nothing here may wait for the adapter.
void LedgerStores::before_store(hca::StoreOrigin origin, std::span<std::byte> memory) noexcept {
  try {
    const std::lock_guard lock(state_.mutex);
    const Range range = range_of(memory);
    if (origin == hca::StoreOrigin::kPeerWrite && mode() == Mode::kFull) note_peer_write_locked(range.address);
    guards_.end_unordered_locked(range.address, range.length);
    const RangeIndex::Clash clash = state_.index.find_store(range);
    if (clash.operation == nullptr) return;
    Operation& operation = *clash.operation;
    LedgerGuards::unguard_locked(operation);
    if (origin == hca::StoreOrigin::kPeerWrite) {
      check_peer_write_locked(operation, clash);
    } else if (!operation.is_stored) {
      // The first store of the data: the buffer must still be as it was when it was posted.
      check_untouched(operation);
    }
    operation.is_stored = true;
    operation.before.reset();
    operation.after.reset();
  } catch (const std::bad_alloc&) {
  }
}

void LedgerStores::after_store(std::span<std::byte> memory) noexcept {
  // Outside of mode full only the data of reads is noted, and most programs post none.
  if (mode() != Mode::kFull && !state_.has_read.load(std::memory_order_relaxed)) return;
  try {
    const std::lock_guard lock(state_.mutex);
    const RangeIndex::Clash clash = state_.index.find_store(range_of(memory));
    if (clash.operation == nullptr) return;
    note_arrival_locked(*clash.operation);
    guards_.guard_locked(*clash.operation);
  } catch (const std::bad_alloc&) {
  }
}

// An answer often comes before the program's next statement, so that a store which is too early comes behind it. The
// bytes are compared again when the completion is dequeued.
void LedgerStores::note_arrival_locked(Operation& operation) {
  base::require_lock(locks::kLedger);
  const bool is_its_own = !operation.is_suppressed && !operation.is_shared;
  if (operation.kind == OperationKind::kRead && is_its_own) operation.after = sum_of_buffer(operation);
}

// Guards what a peer wrote, which the program must not read before an event orders it. Only whole pages can be guarded.
void LedgerStores::after_peer_write(std::span<std::byte> memory) noexcept {
  if (mode() != Mode::kFull || memory.size() < kGuardedPage) return;
  try {
    const std::lock_guard lock(state_.mutex);
    guards_.guard_unordered_locked(range_of(memory));
  } catch (const std::bad_alloc&) {
  }
}

// The adapter may have the kernel read the memory, which cannot read guarded pages. A key that no region has is that of
// a window, and any region may be behind it.
void LedgerStores::on_peer_read(std::uint32_t rkey, bool is_atomic) noexcept {
  const std::uint32_t used = is_atomic ? object::kRemoteAtomicPrivilege : object::kRemoteReadPrivilege;
  const std::lock_guard lock(state_.mutex);
  guards_.end_unordered_locked(0, UINT64_MAX);
  const auto found = state_.regions.find(rkey);
  if (found != state_.regions.end()) {
    found->second.used |= used;
    return;
  }
  for (auto& [lkey, region] : state_.regions) region.used |= used;
}

void LedgerStores::check_peer_write_locked(Operation& operation, const RangeIndex::Clash& clash) {
  base::require_lock(locks::kLedger);
  const auto queue = state_.queues.find(operation.queue);
  const bool is_over = queue != state_.queues.end() && queue->second->disconnected.call != nullptr;
  if (is_over || queues_.is_settled_locked(operation) ||
      is_repeated(Rule::kOverlap, operation.posted, operation.posted)) {
    return;
  }
  report({Rule::kOverlap,
          std::string("An RDMA write of a peer stores into ") + object::range_text(clash.address, clash.length) +
              ", which an outstanding " + name_of(operation.kind) + " uses.",
          {{"posted", operation.posted}}});
}

// The peer may have named the memory by the key of a window.
void LedgerStores::note_peer_write_locked(std::uint64_t address) {
  base::require_lock(locks::kLedger);
  for (auto& [lkey, region] : state_.regions) {
    if (address >= region.address && address - region.address < region.length) {
      region.used |= object::kRemoteWritePrivilege;
    }
  }
}

}  // namespace softdat::sanitize
