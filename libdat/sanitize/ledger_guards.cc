// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/sanitize/ledger_guards.h"

#include <algorithm>
#include <cstddef>
#include <memory>

#include "libdat/object/failure_text.h"
#include "libdat/sanitize/finding.h"
#include "libdat/sanitize/page_guard.h"
#include "libdat/sanitize/settings.h"

namespace softdat::sanitize {
namespace {

// More writes of peers than that are not guarded at once.
constexpr std::size_t kMostUnordered = 1024;

}  // namespace

// A program may know by other means that a suppressed read is done.
void LedgerGuards::guard_locked(Operation& operation) {
  base::require_lock(locks::kLedger);
  if (mode() != Mode::kFull || !stores(operation.kind) || operation.is_suppressed || operation.is_guarded) return;
  const auto queue = state_.queues.find(operation.queue);
  // After a disconnect nothing is stored any more.
  if (queue == state_.queues.end() || queue->second->disconnected.call != nullptr) return;
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

void LedgerGuards::unguard_locked(Operation& operation) {
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

void LedgerGuards::unguard_all_locked(QueueRecord& queue) {
  base::require_lock(locks::kLedger);
  for (auto* const operations : {&queue.receives, &queue.requests}) {
    for (const auto& operation : *operations) unguard_locked(*operation);
  }
}

void LedgerGuards::guard_unordered_locked(const Range& range) {
  base::require_lock(locks::kLedger);
  // Each guard costs system calls, so a flood of writes is left unguarded.
  if (state_.unordered.size() >= kMostUnordered) return;
  const auto holds = [&](const auto& each) {
    const RegionRecord& region = each.second;
    return range.address >= region.address && range.address + range.length <= region.address + region.length;
  };
  const auto region = std::find_if(state_.regions.begin(), state_.regions.end(), holds);
  if (region == state_.regions.end()) return;
  state_.unordered.push_back(range);
  const auto breach = std::make_shared<const Finding>(
      Finding{Rule::kUnorderedRead,
              object::range_text(range.address, range.length) +
                  " was accessed after a peer had written it by RDMA, and before an event was dequeued.",
              {{"registered", region->second.made}}});
  PageGuard::instance().close(range.address, range.length, breach);
}

// A post that the adapter will refuse may name any memory, also that of the ledger itself.
bool LedgerGuards::is_registered_locked(const Range& range) const {
  base::require_lock(locks::kLedger);
  const auto found = state_.regions.find(range.lkey);
  if (found == state_.regions.end()) return false;
  const RegionRecord& region = found->second;
  return range.address >= region.address && range.length <= region.length &&
         range.address - region.address <= region.length - range.length;
}

// Ends the guard of ranges that lie in [address, address + length) or touch it.
void LedgerGuards::open_unordered_locked(std::uint64_t address, std::uint64_t length) {
  base::require_lock(locks::kLedger);
  std::erase_if(state_.unordered, [&](const Range& range) {
    if (range.address >= address && range.address - address >= length) return false;
    if (range.address < address && address - range.address >= range.length) return false;
    static_cast<void>(PageGuard::instance().open(range.address, range.length));
    return true;
  });
}

void LedgerGuards::before_registration(std::uint64_t address, std::uint64_t length) {
  if (mode() == Mode::kFull) static_cast<void>(PageGuard::instance().open(address, length));
}

}  // namespace softdat::sanitize
