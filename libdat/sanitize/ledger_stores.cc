// SPDX-License-Identifier: BSD-2-Clause
// Memory that the adapter is about to store into. Runs with the adapter's baton, so nothing here may wait for it.
#include <new>

#include "libdat/sanitize/ledger.h"

namespace softdat::sanitize {
namespace {

Range range_of(std::span<std::byte> memory) {
  return {.address = reinterpret_cast<std::uintptr_t>(memory.data()), .length = memory.size(), .lkey = 0};
}

void check_untouched(const Operation& operation) {
  if (!operation.before || is_repeated(Rule::kEarlyAccess, operation.posted, operation.posted)) return;
  const auto now = sum_of_buffer(operation);
  if (!now || now == operation.before) return;
  const Range range = main_range(operation);
  report({Rule::kEarlyAccess,
          "The buffer " + range_text(range.address, range.length) + " of the outstanding " + name_of(operation.kind) +
              " was changed before its data came.",
          {{"posted", operation.posted}}});
}

}  // namespace

void Ledger::check_peer_write_locked(Operation& operation, const RangeIndex::Clash& clash) {
  const auto queue = queues_.find(operation.queue);
  const bool is_over = queue != queues_.end() && queue->second->disconnected.call != nullptr;
  if (is_over || is_settled_locked(operation) || is_repeated(Rule::kOverlap, operation.posted, operation.posted)) {
    return;
  }
  report({Rule::kOverlap,
          std::string("An RDMA write of a peer stores into ") + range_text(clash.address, clash.length) +
              ", which an outstanding " + name_of(operation.kind) + " uses.",
          {{"posted", operation.posted}}});
}

void Ledger::before_store(hca::StoreOrigin origin, std::span<std::byte> memory) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    const RangeIndex::Clash clash = index_.find_store(range_of(memory));
    if (clash.operation == nullptr) return;
    Operation& operation = *clash.operation;
    if (origin == hca::StoreOrigin::kPeerWrite) {
      check_peer_write_locked(operation, clash);
    } else if (!operation.is_stored) {
      check_untouched(operation);
    }
    operation.is_stored = true;
    operation.before.reset();
  } catch (const std::bad_alloc&) {
  }
}

}  // namespace softdat::sanitize
