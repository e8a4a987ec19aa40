// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/memory_table.h"

#include <algorithm>
#include <limits>
#include <mutex>

#include "verbs/memory_window.h"

namespace softdat::verbs {

void MemoryTable::insert(const MemoryGrant& grant) {
  const std::unique_lock lock(mutex_);
  grants_[grant.lkey] = grant;
}

void MemoryTable::remove(std::uint32_t lkey) {
  const std::unique_lock lock(mutex_);
  grants_.erase(lkey);
  // Queues remember the grant of their last post; from now on they look it up anew.
  generation_.fetch_add(1, std::memory_order_seq_cst);
}

std::optional<MemoryGrant> MemoryTable::find(std::uint32_t lkey) const {
  const std::shared_lock lock(mutex_);
  const auto found = grants_.find(lkey);
  if (found == grants_.end()) return std::nullopt;
  return found->second;
}

// Linear: only reads into a window ask for this.
std::optional<MemoryGrant> MemoryTable::find_remote(std::uint32_t rkey) const {
  const std::shared_lock lock(mutex_);
  for (const auto& [lkey, grant] : grants_) {
    if (grant.rkey == rkey) return grant;
  }
  return std::nullopt;
}

std::optional<MemoryGrant> MemoryTable::retain(std::uint32_t lkey) {
  const std::unique_lock lock(mutex_);
  const auto found = grants_.find(lkey);
  if (found == grants_.end()) return std::nullopt;
  ++binds_[lkey];
  return found->second;
}

void MemoryTable::release(std::uint32_t lkey) {
  const std::unique_lock lock(mutex_);
  const auto found = binds_.find(lkey);
  if (found != binds_.end() && --found->second == 0) binds_.erase(found);
}

bool MemoryTable::revoke(std::uint32_t lkey) {
  const std::unique_lock lock(mutex_);
  // A window is bound to it: dat_lmr_free(3DAT) answers INVALID_STATE.
  if (binds_.contains(lkey)) return false;
  grants_.erase(lkey);
  generation_.fetch_add(1, std::memory_order_seq_cst);
  return true;
}

bool MemoryTable::is_bound(std::uint32_t lkey) const {
  const std::shared_lock lock(mutex_);
  return binds_.contains(lkey);
}

// Also drops windows that have gone, so that the list does not grow.
void MemoryTable::add_window(const std::shared_ptr<WindowState>& window) {
  const std::unique_lock lock(mutex_);
  std::erase_if(windows_, [](const auto& known) { return known.expired(); });
  windows_.push_back(window);
}

// Windows release their regions here, so not under the lock. The last one first: those that go meanwhile let later ones
// move down. Takes no memory, because a completion is being read.
void MemoryTable::void_window(std::uint32_t rkey) {
  for (std::size_t left = std::numeric_limits<std::size_t>::max();;) {
    std::shared_ptr<WindowState> window;
    {
      const std::shared_lock lock(mutex_);
      left = std::min(left, windows_.size());
      if (left == 0) return;
      window = windows_[--left].lock();
    }
    if (window != nullptr) window->on_voided(rkey);
  }
}

bool MemoryTable::recall(std::uint32_t lkey, std::uint64_t generation, LastGrant& last) const {
  const auto found = find(lkey);
  if (!found) return false;
  last = {*found, generation};
  return true;
}

}  // namespace softdat::verbs
