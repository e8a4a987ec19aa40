// SPDX-License-Identifier: BSD-2-Clause
// The regions of a device by their keys. A device notices a wrong segment when it uses it, and then
// breaks the connection; the port refuses it when it is posted. So we look, too.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <shared_mutex>
#include <span>
#include <unordered_map>

#include "hca/result.h"
#include "hca/types.h"

namespace softdat::verbs {

struct MemoryGrant {
  std::uint64_t address = 0;  // as the region counts
  std::uint64_t length = 0;
  hca::AccessMask access = 0;
  std::uint32_t domain = 0;
  std::uint32_t lkey = 0;
  std::uint32_t rkey = 0;
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

  // Whether each segment lies in a region of the domain that has the rights: kBadKey, kWrongDomain,
  // kMissingRight, kOutOfRange, the first fault of the first bad segment. An empty one asks only for the key.
  hca::Outcome check(std::span<const hca::Segment> segments, hca::AccessMask rights, std::uint32_t domain,
                     LastGrant& last) const;

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::uint32_t, MemoryGrant> grants_;  // guarded by mutex_
  // Raised, under mutex_, when a key goes: what was remembered before counts no more.
  std::atomic<std::uint64_t> generation_{1};
};

// Whether [address, address + length) lies in the region.
inline bool holds(const MemoryGrant& grant, std::uint64_t address, std::uint64_t length) {
  const std::uint64_t offset = address - grant.address;
  return length == 0 || (address >= grant.address && offset <= grant.length && length <= grant.length - offset);
}

}  // namespace softdat::verbs
