// SPDX-License-Identifier: BSD-2-Clause
// MemoryTable: every registered region of a NIC and every bound window, found by key in constant
// time (simnic/key_slots.h). A key is compared whole. lkey and rkey are the same number: rights tell them apart.
//
// A window has a slot, and so a new key, for each bind: reserved when the bind is posted, opened when
// it is carried out. It opens nothing once its region's key is gone.
//
// Writers and pairs: insert() and reserve() fill a free slot, insert() and open() then publish its key;
// remove(), with the baton, takes the key away. A reader matches the key (acquire) before it looks at the rest. With
// the baton, or a listed lane, a match is binding: a key can be removed only with the baton, and
// LaneList::await_posters() follows before its memory is given back. Without either (at post time) a match is advice,
// and every use checks again, but when no key has gone since (removals()).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "hca/device.h"
#include "hca/failure.h"
#include "hca/types.h"
#include "simnic/key_history.h"
#include "simnic/key_slots.h"
#include "simnic/lock_places.h"

namespace softdat::simnic {

// Why a key does not open a range. In the order they are looked for.
enum class AccessError : std::uint8_t {
  kNone,
  kBadKey,        // names no region (any more)
  kWrongDomain,   // belongs to another protection domain
  kWraps,         // the range passes the end of the address space
  kOutOfRange,    // the range leaves the region
  kMissingRight,  // the region does not grant the access
};

// The rule that the fault breaks. kBadKey gives kKeyFreed: MemoryTable::explain() tells more of such a key. kNone gives
// kMemoryGone, because the table has nothing against the access.
hca::Rule rule_of(AccessError fault);

using hca::kLocalRead;

// On whose behalf memory is accessed: the protection domain of a queue pair, and the queue pair's own number.
struct Accessor {
  std::uint32_t domain;
  std::uint32_t stream = 0;  // kStreamBit set; 0: none
};
inline constexpr std::uint32_t kStreamBit = 1u << 31;

// A range of registered memory in one protection domain.
struct MemoryGrant {
  std::uint64_t address;  // of the first byte, as users of the key name it
  std::uint64_t length;
  hca::AccessMask access;
  std::uint32_t domain;
  std::uint64_t shift = 0;  // from there to the address in this process
};

// Where a region lies.
struct MemoryPlace {
  std::uint64_t address = 0;  // of the first byte, as users of the key name it
  std::uint64_t length = 0;
  std::byte* place = nullptr;  // in this process
};

// What a window is to be bound to.
struct WindowGrant {
  std::uint32_t region;   // its key
  std::uint64_t address;  // as the region counts
  std::uint64_t length;   // not 0
  hca::AccessMask access;
  bool is_zero_based;
  std::uint32_t domain;  // of the window and its region
  std::uint32_t stream;  // the one queue pair that may use it; 0: all of the domain
  std::uint32_t note;
  WindowState* window;
};

class MemoryTable {
 public:
  static constexpr std::uint32_t kMaxRegions = KeySlots::kSlots;

  // `salt`: of KeySlots.
  explicit MemoryTable(std::uint8_t salt) : slots_(salt) {}

  // The new region's key; nothing when the table is full. Requires that address + length does not
  // wrap. Any thread.
  std::optional<std::uint32_t> insert(const MemoryGrant& grant);

  // With the baton; `key` was given by insert() or reserve(). A window's is as good as never bound.
  void remove(std::uint32_t key, KeyEnd end = KeyEnd::kFreed);
  // The same for a region that no window uses; false, and nothing done, when one does.
  [[nodiscard]] bool remove_unused(std::uint32_t key);

  // A key for a window, which opens nothing yet; its region is in use from now on until the key is
  // removed. `key` stays 0 when the table is full. Any thread.
  AccessError reserve(const WindowGrant& grant, std::uint32_t& key);
  // What a bind of such access needs of its region.
  static hca::AccessMask bind_rights(hca::AccessMask access);
  // Any thread: whether the key is reserved and may open yet.
  bool is_reserved(std::uint32_t key) const;
  // With the baton. False when the region has gone.
  [[nodiscard]] bool open(std::uint32_t key);
  // With the baton: removes an open window's key on behalf of a peer. kBadKey also for a key that
  // names a region, kWrongDomain for one that `who` could not use.
  AccessError invalidate(std::uint32_t key, Accessor who);
  // What is open under the key. Any thread.
  hca::WindowBinding describe(std::uint32_t key) const;

  // Whether [address, address + length) may be accessed with all of `rights` by `who`. Any thread. An
  // empty range is not checked at all: its caller asks for nothing (IBA 10.6.3.1, RFC 5041 section
  // 5.2; hardware agrees).
  AccessError check(std::uint32_t key, std::uint64_t address, std::uint64_t length, hca::AccessMask rights,
                    Accessor who) const;

  // Of a region, whatever its domain and rights.
  AccessError check_range(std::uint32_t key, std::uint64_t address, std::uint64_t length) const;

  // check(), and where the range begins in this process; null of an empty one.
  AccessError locate(std::uint32_t key, std::uint64_t address, std::uint64_t length, hca::AccessMask rights,
                     Accessor who, std::byte*& place) const;

  // Where the region or window of this key lies, whatever its domain and rights. False: there is none. Any thread;
  // counts only if no key has been removed since before the key was checked.
  bool find_region(std::uint32_t key, MemoryPlace& to) const;

  // Why check() refuses this, or, where it does not, that the memory itself cannot be accessed; with what stands or
  // stood under the key. Any thread; slow.
  void explain(std::uint32_t key, std::uint64_t address, std::uint64_t length, hca::AccessMask rights, Accessor who,
               hca::Failure& to) const;

  // How many keys have gone. Any thread; with the baton it stays as it is. Read before a check, it says later whether
  // what was found still holds.
  std::uint64_t removals() const { return removals_.load(std::memory_order_acquire); }

  std::uint32_t size() const { return slots_.size(); }

 private:
  AccessError check_slot(const KeySlot* slot, std::uint64_t address, std::uint64_t length, hca::AccessMask rights,
                         Accessor who) const;
  AccessError check_bind(const KeySlot* region, const WindowGrant& grant) const;
  void free_slot_locked(std::uint32_t index, KeyEnd end);

  std::atomic<std::uint64_t> removals_{0};  // raised with the baton, under mutex_
  mutable base::Mutex<locks::kMemoryKeys> mutex_;
  KeySlots slots_;              // keys are published and withdrawn under mutex_, but for open()
  KeyHistory history_{slots_};  // guarded by mutex_
};

}  // namespace softdat::simnic
