// SPDX-License-Identifier: BSD-2-Clause
// Stores of the adapter, and accesses of the program that come too early. The adapter calls with its baton held, so
// nothing here may wait for the baton.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "libdat/object/failure_text.h"
#include "libdat/object/memory_region.h"
#include "libdat/sanitize/ledger.h"
#include "libdat/sanitize/page_guard.h"
#include "libdat/sanitize/settings.h"

namespace softdat::sanitize {
namespace {

// Guarded private data stays mapped for ever, so that each later access is seen.
constexpr std::size_t kMostPrivatePages = 4096;
constexpr std::uint64_t kPage = 4096;

// More writes of peers than that are not guarded at once.
constexpr std::size_t kMostUnordered = 1024;

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

void Ledger::check_peer_write_locked(Operation& operation, const RangeIndex::Clash& clash) {
  base::require_lock(locks::kLedger);
  const auto queue = queues_.find(operation.queue);
  const bool is_over = queue != queues_.end() && queue->second->disconnected.call != nullptr;
  if (is_over || is_settled_locked(operation) || is_repeated(Rule::kOverlap, operation.posted, operation.posted)) {
    return;
  }
  report({Rule::kOverlap,
          std::string("An RDMA write of a peer stores into ") + object::range_text(clash.address, clash.length) +
              ", which an outstanding " + name_of(operation.kind) + " uses.",
          {{"posted", operation.posted}}});
}

// The peer may have named the memory by the key of a window.
void Ledger::note_peer_write_locked(std::uint64_t address) {
  base::require_lock(locks::kLedger);
  for (auto& [lkey, region] : regions_) {
    if (address >= region.address && address - region.address < region.length) {
      region.used |= object::kRemoteWritePrivilege;
    }
  }
}

void Ledger::before_store(hca::StoreOrigin origin, std::span<std::byte> memory) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    const Range range = range_of(memory);
    if (origin == hca::StoreOrigin::kPeerWrite && mode() == Mode::kFull) note_peer_write_locked(range.address);
    end_unordered_locked(range.address, range.length);
    const RangeIndex::Clash clash = index_.find_store(range);
    if (clash.operation == nullptr) return;
    Operation& operation = *clash.operation;
    unguard(operation);
    if (origin == hca::StoreOrigin::kPeerWrite) {
      check_peer_write_locked(operation, clash);
    } else if (!operation.is_stored) {
      check_untouched(operation);
    }
    operation.is_stored = true;
    operation.before.reset();
    operation.after.reset();
  } catch (const std::bad_alloc&) {
  }
}

void Ledger::after_store(std::span<std::byte> memory) noexcept {
  if (mode() != Mode::kFull && !has_read_.load(std::memory_order_relaxed)) return;
  try {
    const std::lock_guard lock(mutex_);
    const RangeIndex::Clash clash = index_.find_store(range_of(memory));
    if (clash.operation == nullptr) return;
    note_arrival_locked(*clash.operation);
    guard_locked(*clash.operation);
  } catch (const std::bad_alloc&) {
  }
}

// An answer often comes before the program's next statement, so that a store which is too early comes behind it. The
// bytes are compared again when the completion is dequeued.
void Ledger::note_arrival_locked(Operation& operation) {
  base::require_lock(locks::kLedger);
  const bool is_its_own = !operation.is_suppressed && !operation.is_shared;
  if (operation.kind == OperationKind::kRead && is_its_own) operation.after = sum_of_buffer(operation);
}

// Guards what a peer wrote, which the program must not read before an event orders it. Only whole pages can be guarded.
void Ledger::after_peer_write(std::span<std::byte> memory) noexcept {
  if (mode() != Mode::kFull || memory.size() < kPage) return;
  try {
    const std::lock_guard lock(mutex_);
    if (unordered_.size() >= kMostUnordered) return;
    const Range range = range_of(memory);
    const auto holds = [&](const auto& each) {
      const RegionRecord& region = each.second;
      return range.address >= region.address && range.address + range.length <= region.address + region.length;
    };
    const auto region = std::find_if(regions_.begin(), regions_.end(), holds);
    if (region == regions_.end()) return;
    unordered_.push_back(range);
    const auto breach = std::make_shared<const Finding>(
        Finding{Rule::kUnorderedRead,
                object::range_text(range.address, range.length) +
                    " was accessed after a peer had written it by RDMA, and before an event was dequeued.",
                {{"registered", region->second.made}}});
    PageGuard::instance().close(range.address, range.length, breach);
  } catch (const std::bad_alloc&) {
  }
}

// Ends the guard of ranges that lie in [address, address + length) or touch it.
void Ledger::open_unordered_locked(std::uint64_t address, std::uint64_t length) {
  base::require_lock(locks::kLedger);
  std::erase_if(unordered_, [&](const Range& range) {
    if (range.address >= address && range.address - address >= length) return false;
    if (range.address < address && address - range.address >= range.length) return false;
    static_cast<void>(PageGuard::instance().open(range.address, range.length));
    return true;
  });
}

// The adapter may have the kernel read the memory, which cannot read guarded pages. A key that no region has is that of
// a window, and any region may be behind it.
void Ledger::on_peer_read(std::uint32_t rkey, bool is_atomic) noexcept {
  const std::uint32_t used = is_atomic ? object::kRemoteAtomicPrivilege : object::kRemoteReadPrivilege;
  const std::lock_guard lock(mutex_);
  end_unordered_locked(0, UINT64_MAX);
  const auto found = regions_.find(rkey);
  if (found != regions_.end()) {
    found->second.used |= used;
    return;
  }
  for (auto& [lkey, region] : regions_) region.used |= used;
}

// A post that the adapter will refuse may name any memory, also that of the ledger itself.
bool Ledger::is_registered_locked(const Range& range) const {
  base::require_lock(locks::kLedger);
  const auto found = regions_.find(range.lkey);
  if (found == regions_.end()) return false;
  const RegionRecord& region = found->second;
  return range.address >= region.address && range.length <= region.length &&
         range.address - region.address <= region.length - range.length;
}

// A program may know by other means that a suppressed read is done.
void Ledger::guard_locked(Operation& operation) {
  base::require_lock(locks::kLedger);
  if (mode() != Mode::kFull || !stores(operation.kind) || operation.is_suppressed || operation.is_guarded) return;
  const auto queue = queues_.find(operation.queue);
  if (queue == queues_.end() || queue->second->disconnected.call != nullptr) return;
  const Range main = main_range(operation);
  const auto breach = std::make_shared<const Finding>(
      Finding{Rule::kEarlyAccess,
              "The buffer " + object::range_text(main.address, main.length) + " of the " + name_of(operation.kind) +
                  " was accessed before the completion was dequeued.",
              {{"posted", operation.posted}}});
  operation.is_guarded = true;
  for (const Range& range : operation.ranges) {
    if (is_registered_locked(range)) PageGuard::instance().close(range.address, range.length, breach);
  }
}

void Ledger::unguard(Operation& operation) {
  base::require_lock(locks::kLedger);
  if (!operation.is_guarded) return;
  operation.is_guarded = false;
  for (const Range& range : operation.ranges) {
    // A breach that was seen is reported once.
    if (!PageGuard::instance().open(range.address, range.length)) continue;
    operation.before.reset();
    operation.after.reset();
  }
}

void Ledger::unguard_all(QueueRecord& queue) {
  base::require_lock(locks::kLedger);
  for (auto* const operations : {&queue.receives, &queue.requests}) {
    for (const auto& operation : *operations) unguard(*operation);
  }
}

void Ledger::before_registration(std::uint64_t address, std::uint64_t length) {
  if (mode() == Mode::kFull) static_cast<void>(PageGuard::instance().open(address, length));
}

const void* Ledger::watch_private_data(Handle owner, const void* data, std::size_t length, const Site& site) {
  if (mode() != Mode::kFull || data == nullptr || length == 0 || length > kPage) return data;
  const std::lock_guard lock(mutex_);
  if (private_pages_ >= kMostPrivatePages) return data;
  void* const page = ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return data;
  ++private_pages_;
  std::memcpy(page, data, length);
  private_data_.emplace(owner,
                        PrivateData{.address = reinterpret_cast<std::uintptr_t>(page), .length = length, .made = site});
  return page;
}

void Ledger::end_private_data(Handle owner, const Site& site) {
  if (mode() != Mode::kFull) return;
  const std::lock_guard lock(mutex_);
  const auto [first, last] = private_data_.equal_range(owner);
  for (auto each = first; each != last; ++each) {
    const auto breach = std::make_shared<const Finding>(
        Finding{Rule::kStalePrivateData,
                "The private data " + object::range_text(each->second.address, each->second.length) +
                    " was accessed after its end.",
                {{"given", each->second.made}, {"ended", site}}});
    PageGuard::instance().close(each->second.address, kPage, breach);
  }
  private_data_.erase(first, last);
}

}  // namespace softdat::sanitize
