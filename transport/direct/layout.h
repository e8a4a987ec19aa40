// SPDX-License-Identifier: BSD-2-Clause
// What a process shows its peers: the board, one file that only its owner writes and every peer
// reads, and the arena, one file that holds registered memory.
//
// The board (version 1): BoardHeader; the owner's pins; the gates of its queue pairs; its keys; the
// receives posted behind each gate. The
// arena: kWindows windows of kWindowBytes; a window stands for a run of the owner's addresses as
// long as itself, so memory that is contiguous there is contiguous here.
//
// Who writes what, and what pairs with what:
// - KeyEntry: the owner fills it, then publishes `key` (release); it withdraws by storing 0
//   (sequentially consistent) and changes nothing else before every pin that names the key is gone.
// - Gate: likewise; its word names the connection for which it is open, 0: none.
// - ReceiveEntry: the owner fills it, then publishes `number` (release). Nothing in it changes before
//   that receive has been used up, which only the peer's own sends do while the gate is open.
// - PinSlot: one thread of the owner at a time. It claims a free slot by a sequentially consistent
//   compare-and-exchange that names the foreign key and gate it is about to use, then loads (seq_cst)
//   that gate and key on the peer's board, uses the memory, and frees the slot (release). The peer
//   withdraws and then looks at our slots (seq_cst): either it sees our pin, or we see its withdrawal.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace softdat::transport::direct {

inline constexpr std::uint64_t kBoardMagic = 0x3130'4452'4142'4453;  // "SDBARD01"
inline constexpr std::uint32_t kBoardVersion = 1;

inline constexpr std::size_t kPinSlots = 64;
inline constexpr std::size_t kGates = std::size_t{1} << 18;
inline constexpr std::size_t kKeyEntries = std::size_t{1} << 20;
// A key is an index and this many bits of tag.
inline constexpr unsigned kKeyTagBits = 8;

inline constexpr std::size_t kWindows = 16;
inline constexpr std::uint64_t kWindowBytes = std::uint64_t{64} << 30;
inline constexpr std::uint64_t kArenaBytes = kWindows * kWindowBytes;

// Bits 32-63 the key (kAnyKey: several), 16-31 the gate's number modulo 2^16, never both zero while
// claimed; 0-15 count the claims.
struct alignas(64) PinSlot {
  std::atomic<std::uint64_t> word;
};
inline constexpr std::uint32_t kAnyKey = 0xffff'ffff;

constexpr std::uint64_t pin_word(std::uint32_t key, std::uint32_t gate, std::uint64_t claims) {
  return std::uint64_t{key} << 32 | std::uint64_t{gate & 0xffff} << 16 | (claims & 0xffff);
}
constexpr bool is_claimed(std::uint64_t word) {
  return word >> 16 != 0;
}
constexpr bool names_key(std::uint64_t word, std::uint32_t key) {
  const auto named = static_cast<std::uint32_t>(word >> 32);
  return is_claimed(word) && (named == key || named == kAnyKey);
}
constexpr bool names_gate(std::uint64_t word, std::uint32_t gate) {
  return is_claimed(word) && (word >> 16 & 0xffff) == (gate & 0xffff);
}

struct alignas(64) Gate {
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

struct alignas(64) BoardHeader {
  std::uint64_t magic;
  std::uint32_t version;
};

struct BoardLayout {
  BoardHeader header;
  PinSlot pins[kPinSlots];
  Gate gates[kGates];
  KeyEntry keys[kKeyEntries];
  ReceiveEntry receives[kGates][kReceives];
};
inline constexpr std::size_t kBoardBytes = (sizeof(BoardLayout) + 4095) / 4096 * 4096;

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(sizeof(KeyEntry) == 64 && sizeof(Gate) == 64 && sizeof(PinSlot) == 64);
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

}  // namespace softdat::transport::direct
