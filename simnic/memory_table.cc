// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/memory_table.h"

#include "base/assert.h"
#include "simnic/window_state.h"

namespace softdat::simnic {
namespace {

using hca::Rule;

// Inline: every check of a key runs these.
inline AccessError check_bounds(const KeySlot& slot, std::uint64_t address, std::uint64_t length) {
  if (address + length < address) return AccessError::kWraps;
  const std::uint64_t start = slot.address.load(std::memory_order_relaxed);
  const std::uint64_t size = slot.length.load(std::memory_order_relaxed);
  // Neither side of these can overflow: address >= start before the subtraction.
  if (address < start || length > size || address - start > size - length) return AccessError::kOutOfRange;
  return AccessError::kNone;
}

inline bool is_of_domain(const KeySlot& slot, Accessor who) {
  const std::uint32_t owner = slot.domain.load(std::memory_order_relaxed);
  return owner == who.domain || owner == who.stream;
}

}  // namespace

Rule rule_of(AccessError fault) {
  switch (fault) {
    case AccessError::kNone:
      return Rule::kMemoryGone;
    case AccessError::kBadKey:
      return Rule::kKeyFreed;
    case AccessError::kWrongDomain:
      return Rule::kOtherDomain;
    case AccessError::kWraps:
      return Rule::kRangeWraps;
    case AccessError::kOutOfRange:
      return Rule::kOutOfRange;
    case AccessError::kMissingRight:
      return Rule::kMissingRight;
  }
  return Rule::kUnknown;
}

inline AccessError MemoryTable::check_slot(const KeySlot* slot, std::uint64_t address, std::uint64_t length,
                                           hca::AccessMask rights, Accessor who) const {
  if (slot == nullptr) return AccessError::kBadKey;
  if (!is_of_domain(*slot, who)) return AccessError::kWrongDomain;
  if (const AccessError fault = check_bounds(*slot, address, length); fault != AccessError::kNone) return fault;
  if ((slot->access.load(std::memory_order_relaxed) & rights) != rights) return AccessError::kMissingRight;
  const std::uint32_t region = slot->region.load(std::memory_order_relaxed);
  // A window ends with its region, even if its own key was never removed.
  if (region != 0 && slots_.find_live(region) == nullptr) [[unlikely]]
    return AccessError::kBadKey;
  return AccessError::kNone;
}

std::optional<std::uint32_t> MemoryTable::insert(const MemoryGrant& grant) {
  const std::lock_guard lock(mutex_);
  const auto key = slots_.take_locked();
  if (!key) return std::nullopt;
  KeySlot& slot = slots_.used(index_of_key(*key));
  slot.address.store(grant.address, std::memory_order_relaxed);
  slot.length.store(grant.length, std::memory_order_relaxed);
  slot.shift.store(grant.shift, std::memory_order_relaxed);
  const hca::AccessMask local = (grant.access & hca::kNoLocalRead) != 0 ? 0u : kLocalRead;
  slot.access.store(grant.access | local, std::memory_order_relaxed);
  slot.domain.store(grant.domain, std::memory_order_relaxed);
  slot.is_window = false;
  history_.note_place_locked(index_of_key(*key));
  // Last: a reader that matches the key (acquire) sees the whole slot.
  slot.key.store(*key, std::memory_order_release);
  return key;
}

void MemoryTable::free_slot_locked(std::uint32_t index, KeyEnd end) {
  base::require_lock(locks::kMemoryKeys);
  KeySlot& slot = slots_.used(index);
  slot.end = end;
  // Sequentially consistent: a thread that pinned before it checked the key is waited for (DirectContext::await()).
  slot.key.store(0, std::memory_order_seq_cst);
  // Remembered lookups (RegionCache, ResolvedSegment) count only while this number stands.
  removals_.fetch_add(1, std::memory_order_release);
  slot.reserved.store(0, std::memory_order_relaxed);
  // A region that has gone, windows or not, counts none any more.
  if (KeySlot* region = slots_.find_live(slot.region.exchange(0, std::memory_order_relaxed))) --region->windows;
  slot.windows = 0;
  slot.window = nullptr;
  slots_.give_back_locked(index);
}

// The key is open, or only reserved.
void MemoryTable::remove(std::uint32_t key, KeyEnd end) {
  const std::uint32_t index = index_of_key(key);
  const std::lock_guard lock(mutex_);
  const KeySlot* slot = slots_.find(index);
  base::check(slot != nullptr && (slot->key.load(std::memory_order_relaxed) == key ||
                                  slot->reserved.load(std::memory_order_relaxed) == key),
              "only live keys are removed", key);
  free_slot_locked(index, end);
}

// The count of windows and the removal are one step under the lock, so no bind slips in between.
bool MemoryTable::remove_unused(std::uint32_t key) {
  const std::lock_guard lock(mutex_);
  const KeySlot* slot = slots_.find_live(key);
  base::check(slot != nullptr, "only live keys are removed", key);
  if (slot->windows > 0) return false;
  free_slot_locked(index_of_key(key), KeyEnd::kFreed);
  return true;
}

hca::AccessMask MemoryTable::bind_rights(hca::AccessMask access) {
  constexpr hca::AccessMask kChanging = hca::kRemoteWrite | hca::kRemoteAtomic;
  const hca::AccessMask read = (access & hca::kRemoteRead) != 0 ? hca::kBindRemoteRead : 0u;
  return read | ((access & kChanging) != 0 ? hca::kLocalWrite : 0u);
}

AccessError MemoryTable::check_bind(const KeySlot* region, const WindowGrant& grant) const {
  const hca::AccessMask rights = bind_rights(grant.access);
  // A window cannot be bound over another window.
  const AccessError fault = check_slot(region, grant.address, grant.length, rights, {grant.domain});
  const bool is_window = region != nullptr && region->region.load(std::memory_order_relaxed) != 0;
  return is_window ? AccessError::kBadKey : fault;
}

AccessError MemoryTable::reserve(const WindowGrant& grant, std::uint32_t& key) {
  const std::lock_guard lock(mutex_);
  KeySlot* region = slots_.find_live(grant.region);
  if (const AccessError fault = check_bind(region, grant); fault != AccessError::kNone) return fault;
  const auto taken = slots_.take_locked();
  if (!taken) return AccessError::kNone;
  key = *taken;
  KeySlot& slot = slots_.used(index_of_key(key));
  const std::uint64_t place = grant.address + region->shift.load(std::memory_order_relaxed);
  const std::uint64_t start = grant.is_zero_based ? 0 : place;
  slot.address.store(start, std::memory_order_relaxed);
  slot.length.store(grant.length, std::memory_order_relaxed);
  slot.shift.store(place - start, std::memory_order_relaxed);
  slot.access.store(grant.access, std::memory_order_relaxed);
  slot.domain.store(grant.stream != 0 ? grant.stream : grant.domain, std::memory_order_relaxed);
  slot.region.store(grant.region, std::memory_order_relaxed);
  slot.note = grant.note;
  slot.window = grant.window;
  slot.is_window = true;
  history_.note_place_locked(index_of_key(key));
  // Reserved and not open: posts may name the key, and peers cannot use it until the bind is carried out.
  slot.reserved.store(key, std::memory_order_release);
  ++region->windows;
  return AccessError::kNone;
}

bool MemoryTable::is_reserved(std::uint32_t key) const {
  const KeySlot* slot = slots_.find(index_of_key(key));
  return key != 0 && slot != nullptr && slot->reserved.load(std::memory_order_acquire) == key;
}

bool MemoryTable::open(std::uint32_t key) {
  KeySlot* slot = slots_.find(index_of_key(key));
  base::check(is_reserved(key), "only reserved keys are opened", key);
  // The region was freed between the post of the bind and its turn.
  if (slots_.find_live(slot->region.load(std::memory_order_relaxed)) == nullptr) return false;
  slot->key.store(key, std::memory_order_release);
  slot->reserved.store(0, std::memory_order_release);  // a thread that sees this finds the key open
  return true;
}

AccessError MemoryTable::invalidate(std::uint32_t key, Accessor who) {
  const std::lock_guard lock(mutex_);
  KeySlot* slot = slots_.find_live(key);
  if (slot == nullptr || slot->region.load(std::memory_order_relaxed) == 0) return AccessError::kBadKey;
  if (!is_of_domain(*slot, who)) return AccessError::kWrongDomain;
  // Sent by the peer: only the window's key ends, the window may be bound again.
  slot->window->set_key(0);
  free_slot_locked(index_of_key(key), KeyEnd::kInvalidated);
  return AccessError::kNone;
}

// In addresses of the region, whatever the window's own addresses count from.
hca::WindowBinding MemoryTable::describe(std::uint32_t key) const {
  const std::lock_guard lock(mutex_);
  const KeySlot* slot = slots_.find_live(key);
  if (slot == nullptr || slot->window == nullptr) return {};
  const std::uint32_t region_key = slot->region.load(std::memory_order_relaxed);
  const KeySlot* region = slots_.find_live(region_key);
  if (region == nullptr) return {};
  const std::uint64_t start = slot->address.load(std::memory_order_relaxed);
  const std::uint64_t place = start + slot->shift.load(std::memory_order_relaxed);
  return {.rkey = key,
          .lkey = region_key,
          .address = place - region->shift.load(std::memory_order_relaxed),
          .length = slot->length.load(std::memory_order_relaxed),
          .is_zero_based = (slot->access.load(std::memory_order_relaxed) & hca::kZeroBased) != 0,
          .note = slot->note};
}

AccessError MemoryTable::check(std::uint32_t key, std::uint64_t address, std::uint64_t length, hca::AccessMask rights,
                               Accessor who) const {
  if (length == 0) return AccessError::kNone;
  return check_slot(slots_.find_live(key), address, length, rights, who);
}

AccessError MemoryTable::locate(std::uint32_t key, std::uint64_t address, std::uint64_t length, hca::AccessMask rights,
                                Accessor who, std::byte*& place) const {
  place = nullptr;
  if (length == 0) return AccessError::kNone;
  const KeySlot* slot = slots_.find_live(key);
  const AccessError fault = check_slot(slot, address, length, rights, who);
  if (fault != AccessError::kNone) return fault;
  const std::uint64_t real = address + slot->shift.load(std::memory_order_relaxed);
  place = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(real));
  return AccessError::kNone;
}

// Without the lock: the answer counts while no key is removed (RegionCache).
bool MemoryTable::find_region(std::uint32_t key, MemoryPlace& to) const {
  const KeySlot* slot = slots_.find_live(key);
  if (slot == nullptr) return false;
  to.address = slot->address.load(std::memory_order_relaxed);
  to.length = slot->length.load(std::memory_order_relaxed);
  to.place = reinterpret_cast<std::byte*>(to.address + slot->shift.load(std::memory_order_relaxed));
  return true;
}

AccessError MemoryTable::check_range(std::uint32_t key, std::uint64_t address, std::uint64_t length) const {
  if (length == 0) return AccessError::kNone;
  const KeySlot* slot = slots_.find_live(key);
  // A window's key grants no local access.
  if (slot == nullptr || slot->region.load(std::memory_order_relaxed) != 0) return AccessError::kBadKey;
  return check_bounds(*slot, address, length);
}

void MemoryTable::explain(std::uint32_t key, std::uint64_t address, std::uint64_t length, hca::AccessMask rights,
                          Accessor who, hca::Failure& to) const {
  to.key = key;
  to.address = address;
  to.length = length;
  to.needed = rights;
  const std::lock_guard lock(mutex_);
  history_.explain_locked(rule_of(check(key, address, length, rights, who)), to);
}

}  // namespace softdat::simnic
