// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/memory_table.h"

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
  generation_.fetch_add(1, std::memory_order_seq_cst);
}

std::optional<MemoryGrant> MemoryTable::find(std::uint32_t lkey) const {
  const std::shared_lock lock(mutex_);
  const auto found = grants_.find(lkey);
  if (found == grants_.end()) return std::nullopt;
  return found->second;
}

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
  if (binds_.contains(lkey)) return false;
  grants_.erase(lkey);
  generation_.fetch_add(1, std::memory_order_seq_cst);
  return true;
}

bool MemoryTable::is_bound(std::uint32_t lkey) const {
  const std::shared_lock lock(mutex_);
  return binds_.contains(lkey);
}

void MemoryTable::add_window(const std::shared_ptr<WindowState>& window) {
  const std::unique_lock lock(mutex_);
  std::erase_if(windows_, [](const auto& known) { return known.expired(); });
  windows_.push_back(window);
}

// Windows release their regions here, so not under the lock.
void MemoryTable::void_window(std::uint32_t rkey) {
  std::vector<std::weak_ptr<WindowState>> windows;
  {
    const std::shared_lock lock(mutex_);
    windows = windows_;
  }
  for (const auto& known : windows) {
    if (const auto window = known.lock()) window->on_voided(rkey);
  }
}

hca::Outcome MemoryTable::check(std::span<const hca::Segment> segments, hca::AccessMask rights, std::uint32_t domain,
                                LastGrant& last) const {
  for (const hca::Segment& segment : segments) {
    if (segment.length == 0) continue;
    const std::uint64_t generation = generation_.load(std::memory_order_seq_cst);
    if (last.generation != generation || last.grant.lkey != segment.lkey) [[unlikely]] {
      const auto found = find(segment.lkey);
      if (!found) return hca::fail(hca::Error::kBadKey);
      last = {*found, generation};
    }
    const MemoryGrant& grant = last.grant;
    if (grant.domain != domain) return hca::fail(hca::Error::kWrongDomain);
    const bool is_shut = rights == 0 && (grant.access & hca::kNoLocalRead) != 0;  // who only reads asks for no right
    if (is_shut || (grant.access & rights) != rights) return hca::fail(hca::Error::kMissingRight);
    if (!holds(grant, segment.address, segment.length)) return hca::fail(hca::Error::kOutOfRange);
  }
  return hca::Done{};
}

}  // namespace softdat::verbs
