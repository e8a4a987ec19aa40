// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/memory_table.h"

#include <mutex>

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

hca::Outcome MemoryTable::check(std::span<const hca::Segment> segments, hca::AccessMask rights, std::uint32_t domain,
                                LastGrant& last) const {
  for (const hca::Segment& segment : segments) {
    const std::uint64_t generation = generation_.load(std::memory_order_seq_cst);
    if (last.generation != generation || last.grant.lkey != segment.lkey) [[unlikely]] {
      const auto found = find(segment.lkey);
      if (!found) return hca::fail(hca::Error::kBadKey);
      last = {*found, generation};
    }
    const MemoryGrant& grant = last.grant;
    if (grant.domain != domain) return hca::fail(hca::Error::kWrongDomain);
    if ((grant.access & rights) != rights) return hca::fail(hca::Error::kMissingRight);
    if (!holds(grant, segment.address, segment.length)) return hca::fail(hca::Error::kOutOfRange);
  }
  return hca::Done{};
}

}  // namespace softdat::verbs
