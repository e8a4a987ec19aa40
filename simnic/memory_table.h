// SPDX-License-Identifier: BSD-2-Clause
// MemoryTable: every registered region of a NIC, found by key in constant time.
//
// A key is 24 bits of index and 8 bits of tag, compared whole; the tag changes with every reuse of
// a slot, and slots are reused oldest first. Key 0 is never given out. lkey and rkey are the same
// number: rights tell them apart.
//
// Who writes what: insert() fills a free slot and then publishes its key; remove(), with the baton,
// takes the key away. A reader matches the key (acquire) before it looks at the rest. With the
// baton a match is binding, because nobody can remove it meanwhile; without (at post time) it is
// advice, and every use checks again.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "hca/types.h"

namespace softdat::simnic {

// Why a key does not open a range. In the order they are looked for.
enum class KeyFault : std::uint8_t {
  kNone,
  kBadKey,        // names no region (any more)
  kWrongDomain,   // belongs to another protection domain
  kWraps,         // the range passes the end of the address space
  kOutOfRange,    // the range leaves the region
  kMissingRight,  // the region does not grant the access
};

// A range of registered memory in one protection domain.
struct MemoryGrant {
  std::uint64_t address;
  std::uint64_t length;
  hca::AccessMask access;
  std::uint32_t domain;
};

class MemoryTable {
 public:
  static constexpr std::uint32_t kMaxRegions = 1u << 20;
  // As many freed slots rest before the oldest of them is used again.
  static constexpr std::size_t kRestingSlots = 64;

  // `salt` varies the tags, so that one process's keys seldom open another's regions.
  explicit MemoryTable(std::uint8_t salt) : salt_(salt) {}
  ~MemoryTable();
  MemoryTable(const MemoryTable&) = delete;
  MemoryTable& operator=(const MemoryTable&) = delete;

  // The new region's key; nothing when the table is full. Requires that address + length does not
  // wrap. Any thread.
  std::optional<std::uint32_t> insert(const MemoryGrant& grant);

  // With the baton; `key` was given by insert().
  void remove(std::uint32_t key);

  // Whether [address, address + length) may be accessed with all of `rights` (0: local read) by
  // objects of `domain`. Any thread. An empty range is not checked at all: its caller asks for
  // nothing (IBA 10.6.3.1, RFC 5041 section 5.2; hardware agrees).
  KeyFault check(std::uint32_t key, std::uint64_t address, std::uint64_t length, hca::AccessMask rights,
                 std::uint32_t domain) const;

  std::uint32_t size() const { return size_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uint32_t kTagBits = 8;
  static constexpr std::uint32_t kChunkSize = 1024;

  struct Slot {
    std::atomic<std::uint32_t> key{0};  // 0: free
    std::atomic<std::uint32_t> access{0};
    std::atomic<std::uint64_t> address{0};
    std::atomic<std::uint64_t> length{0};
    std::atomic<std::uint32_t> domain{0};
    std::uint8_t tag = 0;  // guarded by mutex_
  };
  using Chunk = std::array<Slot, kChunkSize>;

  Slot* find(std::uint32_t index) const;
  std::optional<std::uint32_t> take_index_locked();

  const std::uint8_t salt_;
  // Published once each, never taken away while the table lives.
  std::array<std::atomic<Chunk*>, kMaxRegions / kChunkSize> chunks_{};
  std::atomic<std::uint32_t> size_{0};
  std::mutex mutex_;
  // Guarded by mutex_.
  std::deque<std::uint32_t> resting_;  // freed indices, oldest first
  std::uint32_t fresh_ = 1;            // indices from here on were never used
};

}  // namespace softdat::simnic
