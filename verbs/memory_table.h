// SPDX-License-Identifier: BSD-2-Clause
// The regions of a device by their keys. A device notices a wrong segment when it uses it, and then
// breaks the connection; the port refuses it when it is posted. So we look, too.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "hca/result.h"
#include "hca/types.h"
#include "verbs/lock_places.h"

struct ibv_mr;

namespace softdat::verbs {

class WindowState;

struct MemoryGrant {
  std::uint64_t address = 0;  // as the region counts
  std::uint64_t length = 0;
  hca::AccessMask access = 0;
  std::uint32_t domain = 0;
  std::uint32_t lkey = 0;
  std::uint32_t rkey = 0;
  ibv_mr* mr = nullptr;  // while the region is there
};

// What a poster remembers of the last region that it used; owned by whoever posts.
struct LastGrant {
  MemoryGrant grant{};
  std::uint64_t generation = 0;
};

// Any thread.
class MemoryTable {
 public:
  void insert(const MemoryGrant& grant);
  void remove(std::uint32_t lkey);

  std::optional<MemoryGrant> find(std::uint32_t lkey) const;
  // By what peers use.
  std::optional<MemoryGrant> find_remote(std::uint32_t rkey) const;

  // Binds to a region, posted or carried out, and their end. retain() finds it too, in one step with revoke(), which
  // takes away the key of a region that has none, and otherwise answers false.
  std::optional<MemoryGrant> retain(std::uint32_t lkey);
  void release(std::uint32_t lkey);
  bool revoke(std::uint32_t lkey);
  bool is_bound(std::uint32_t lkey) const;

  // Windows, which the table forgets when they have gone.
  void add_window(const std::shared_ptr<WindowState>& window);
  // A peer has voided that key of ours.
  void void_window(std::uint32_t rkey);

  // Whether each segment lies in a region of the domain that has the rights: kBadKey, kWrongDomain,
  // kMissingRight, kOutOfRange, the first fault of the first bad segment. Empty ones are not looked at.
  hca::Outcome check(std::span<const hca::Segment> segments, hca::AccessMask rights, std::uint32_t domain,
                     LastGrant& last) const;
  // Whether check() would say yes to reading this segment, at the first look; empty ones it leaves to that.
  bool remembers(const hca::Segment& segment, std::uint32_t domain, const LastGrant& last) const;

 private:
  // False: there is no such key.
  bool recall(std::uint32_t lkey, std::uint64_t generation, LastGrant& last) const;

  mutable base::Ordered<std::shared_mutex, locks::kVerbsMemoryTable> mutex_;
  std::unordered_map<std::uint32_t, MemoryGrant> grants_;   // guarded by mutex_
  std::unordered_map<std::uint32_t, std::uint32_t> binds_;  // by region; guarded by mutex_
  std::vector<std::weak_ptr<WindowState>> windows_;         // guarded by mutex_
  // Raised, under mutex_, when a key goes: what was remembered before counts no more.
  std::atomic<std::uint64_t> generation_{1};
};

// Whether [address, address + length) lies in the region.
inline bool holds(const MemoryGrant& grant, std::uint64_t address, std::uint64_t length) {
  const std::uint64_t offset = address - grant.address;
  return length == 0 || (address >= grant.address && offset <= grant.length && length <= grant.length - offset);
}

// Inline, because every post passes through them.
inline bool MemoryTable::remembers(const hca::Segment& segment, std::uint32_t domain, const LastGrant& last) const {
  const MemoryGrant& grant = last.grant;
  const bool is_known = last.generation == generation_.load(std::memory_order_seq_cst) && grant.lkey == segment.lkey;
  const bool may_read = grant.domain == domain && (grant.access & hca::kNoLocalRead) == 0;
  return is_known && may_read && segment.length != 0 && holds(grant, segment.address, segment.length);
}

inline hca::Outcome MemoryTable::check(std::span<const hca::Segment> segments, hca::AccessMask rights,
                                       std::uint32_t domain, LastGrant& last) const {
  for (const hca::Segment& segment : segments) {
    if (segment.length == 0) continue;
    const std::uint64_t generation = generation_.load(std::memory_order_seq_cst);
    const bool is_known = last.generation == generation && last.grant.lkey == segment.lkey;
    if (!is_known && !recall(segment.lkey, generation, last)) [[unlikely]]
      return hca::fail(hca::Error::kBadKey);
    const MemoryGrant& grant = last.grant;
    if (grant.domain != domain) return hca::fail(hca::Error::kWrongDomain);
    const bool is_shut = rights == 0 && (grant.access & hca::kNoLocalRead) != 0;  // who only reads asks for no right
    if (is_shut || (grant.access & rights) != rights) return hca::fail(hca::Error::kMissingRight);
    if (!holds(grant, segment.address, segment.length)) return hca::fail(hca::Error::kOutOfRange);
  }
  return hca::Done{};
}

}  // namespace softdat::verbs
