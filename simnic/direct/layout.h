// SPDX-License-Identifier: BSD-2-Clause
// What a process shows its peers: the key directory, one file that only its owner writes and every peer reads, and the
// arena, one file that holds registered memory.
//
// The key directory (version 2): KeyDirectoryHeader; the owner's pins; the arenas that these name; the entries of its
// queue pairs (QP entries); its keys; the receives posted to each queue pair. The arena: memory/file_range.h.
//
// Writers and pairs:
// - KeyEntry: the owner fills it, then publishes `key` (release); it withdraws by storing 0
//   (sequentially consistent). When the owner takes pages of the key away from under a pin, it stores the key in
//   `cut` first: the holder of the pin looks there after its copy, and does not rely on the copy then.
// - QpEntry: likewise; its word names the connection for which it is open, 0: none.
// - ReceiveEntry: the owner fills it, then publishes `number` (release). Nothing in it changes before
//   that receive has been used up, which only the peer's own sends do while the QP entry is open.
// - PinSlot: one thread of the owner at a time. It reads the foreign key's place, claims a free slot by a sequentially
//   consistent compare-and-exchange that names the foreign pages and the QP entry, then loads (seq_cst) QP entry and
//   key in the peer's key directory, checks that the place is still the same, uses the memory, and frees the slot
//   (release). The peer withdraws and then looks at our slots (seq_cst): either it sees our pin, or we see its
//   withdrawal.
// - owners: stored (seq_cst) before the first pin that has this index, zeroed after the last.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "memory/file_range.h"

namespace softdat::simnic::direct {

inline constexpr std::uint64_t kKeyDirectoryMagic = 0x3130'4452'4142'4453;  // "SDBARD01"
inline constexpr std::uint32_t kKeyDirectoryVersion = 2;

inline constexpr std::size_t kPinSlots = 64;
inline constexpr std::size_t kQpEntries = std::size_t{1} << 18;
inline constexpr std::size_t kKeyEntries = std::size_t{1} << 20;
// A key is an index and this many bits of tag.
inline constexpr unsigned kKeyTagBits = 8;

// The most bytes of one pin, so that a wait for it is short, and few pages must be replaced under it.
inline constexpr std::uint64_t kMostPinned = std::uint64_t{256} << 10;
// Peers of one process at a time.
inline constexpr std::size_t kOwners = 4096;

using memory::FileRange;
using memory::kPageBytes;
static_assert(memory::kArenaBytes / kPageBytes == std::uint64_t{1} << 28);  // what pin_word() has room for

// Bits 36-63 the first page of the arena, 29-35 how many pages (0: the slot is free), 17-28 whose arena (the index in
// `owners`), 8-16 the QP entry modulo 2^9; 0-7 count the claims.
struct alignas(64) PinSlot {
  std::atomic<std::uint64_t> word;
};
constexpr std::uint64_t pin_word(std::uint64_t offset, std::uint64_t length, std::uint32_t owner,
                                 std::uint32_t qp_entry) {
  const std::uint64_t pages = (offset % kPageBytes + length + kPageBytes - 1) / kPageBytes;
  return offset / kPageBytes << 36 | (pages & 0x7f) << 29 | std::uint64_t{owner & 0xfff} << 17 |
         std::uint64_t{qp_entry & 0x1ff} << 8;
}
constexpr std::uint64_t claims_of(std::uint64_t word) {
  return word & 0xff;
}
constexpr bool is_claimed(std::uint64_t word) {
  return (word >> 29 & 0x7f) != 0;
}
constexpr std::uint32_t owner_of(std::uint64_t word) {
  return static_cast<std::uint32_t>(word >> 17 & 0xfff);
}
constexpr FileRange pages_of(std::uint64_t word) {
  const std::uint64_t begin = (word >> 36) * kPageBytes;
  return {begin, begin + (word >> 29 & 0x7f) * kPageBytes};
}
constexpr std::uint32_t qp_entry_of(std::uint64_t word) {
  return static_cast<std::uint32_t>(word >> 8 & 0x1ff);
}
constexpr bool names_qp_entry(std::uint64_t word, std::uint32_t qp_entry) {
  return qp_entry_of(word) == (qp_entry & 0x1ff);
}
static_assert(kMostPinned / kPageBytes + 1 <= 0x7f && kOwners == 0x1000);

// Opens the owner's memory to the peer of a connected queue pair.
struct alignas(64) QpEntry {
  std::atomic<std::uint64_t> open_for;  // a connection's number, never the same twice; 0: closed
  std::atomic<std::uint32_t> domain;    // the queue pair's
};

struct alignas(64) KeyEntry {
  std::atomic<std::uint32_t> key;  // 0: none
  std::atomic<std::uint32_t> access;
  std::atomic<std::uint32_t> domain;
  std::atomic<std::uint64_t> address;
  std::atomic<std::uint64_t> length;
  std::atomic<std::uint64_t> offset;  // of its first byte in the arena
  std::atomic<std::uint32_t> cut;     // the last key here that has lost pages under a pin
};

// The receives of a queue pair are numbered from 0; entry n % kReceives tells of receive n, if it is
// one of the next ones and simple enough, else the peer sends by messages.
inline constexpr std::size_t kReceives = 64;
inline constexpr std::size_t kReceiveSegments = 3;
struct alignas(64) ReceiveEntry {
  std::atomic<std::uint64_t> number;  // plus one; 0: none
  std::atomic<std::uint64_t> count;   // of segments
  struct {
    std::atomic<std::uint64_t> address;
    std::atomic<std::uint32_t> length;
    std::atomic<std::uint32_t> key;
  } segments[kReceiveSegments];
};

struct alignas(64) KeyDirectoryHeader {
  std::uint64_t magic;
  std::uint32_t version;
};

struct KeyDirectoryLayout {
  KeyDirectoryHeader header;
  PinSlot pins[kPinSlots];
  std::atomic<std::uint64_t> owners[kOwners];  // the numbers of arenas; 0: none
  QpEntry qp_entries[kQpEntries];
  KeyEntry keys[kKeyEntries];
  ReceiveEntry receives[kQpEntries][kReceives];
};
// What is in use at all times, at its beginning.
inline constexpr std::size_t kKeyDirectoryHead = offsetof(KeyDirectoryLayout, qp_entries);
// Where a part of a key directory lies in it.
template <typename Part>
std::uint64_t offset_in_key_directory(const KeyDirectoryLayout& key_directory, const Part& part) {
  return reinterpret_cast<std::uintptr_t>(&part) - reinterpret_cast<std::uintptr_t>(&key_directory);
}
inline constexpr std::size_t kKeyDirectoryBytes = (sizeof(KeyDirectoryLayout) + 4095) / 4096 * 4096;

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(sizeof(KeyEntry) == 64 && sizeof(QpEntry) == 64 && sizeof(PinSlot) == 64);
static_assert(sizeof(ReceiveEntry) == 64);

// A private copy of a receive entry.
struct Receive {
  struct Segment {
    std::uint64_t address;
    std::uint32_t length;
    std::uint32_t key;
  };
  Segment segments[kReceiveSegments];
  std::size_t count = 0;
};

// What a key opens: [address, address + length) to those of the domain, with these rights.
struct Grant {
  std::uint64_t address;
  std::uint64_t length;
  std::uint32_t access;
  std::uint32_t domain;
};

}  // namespace softdat::simnic::direct
