// SPDX-License-Identifier: BSD-2-Clause
// What the table still knows of keys that open nothing. The tag of a slot's first key follows from its index, and each
// further key raises it: so a key that was issued is told from one that never was.
#include <new>

#include "base/call.h"
#include "simnic/memory_table.h"

namespace softdat::simnic {
namespace {

using hca::Rule;

Rule rule_of(KeyEnd end) {
  switch (end) {
    case KeyEnd::kFreed:
      return Rule::kKeyFreed;
    case KeyEnd::kRebound:
      return Rule::kKeyRebound;
    case KeyEnd::kUnbound:
      return Rule::kKeyUnbound;
    case KeyEnd::kInvalidated:
      return Rule::kKeyInvalidated;
  }
  return Rule::kKeyFreed;
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

// Places are worth no failure: without memory there are none.
void MemoryTable::note_place_locked(std::uint32_t index) {
  base::require_lock(locks::kMemoryKeys);
  const void* const place = base::calling_place();
  if (place == nullptr && places_.empty()) return;
  try {
    places_[index] = place;
  } catch (const std::bad_alloc&) {
    places_.erase(index);
  }
}

void MemoryTable::describe_locked(std::uint32_t index, hca::RegionFacts& region) const {
  base::require_lock(locks::kMemoryKeys);
  const Slot& slot = *find_slot(index);
  const auto place = places_.find(index);
  region = {.key = index << kTagBits | slot.tag,
            .address = slot.address.load(std::memory_order_relaxed),
            .length = slot.length.load(std::memory_order_relaxed),
            .access = slot.access.load(std::memory_order_relaxed),
            .is_window = slot.is_window,
            .registered = place == places_.end() ? nullptr : place->second};
}

// Of a key that is not open.
Rule MemoryTable::history_locked(std::uint32_t key, hca::RegionFacts& region) const {
  base::require_lock(locks::kMemoryKeys);
  const std::uint32_t index = key >> kTagBits;
  if (index == 0 || index >= fresh_) {
    // Numbers that travel between hosts are often turned round once too often.
    const std::uint32_t reversed = __builtin_bswap32(key);
    if (reversed >> kTagBits > 0 && reversed >> kTagBits < fresh_) describe_locked(reversed >> kTagBits, region);
    if (region.key != reversed) region = {};
    return Rule::kKeyNeverIssued;
  }
  const Slot& slot = *find_slot(index);
  const auto first = static_cast<std::uint8_t>(salt_ + index * kTagStep);
  const auto issued = static_cast<std::uint8_t>(slot.tag - first);
  const auto asked = static_cast<std::uint8_t>(key - first);
  if (asked == 0 || asked > issued) {
    if (slot.key.load(std::memory_order_relaxed) != 0) describe_locked(index, region);
    return Rule::kKeyNeverIssued;
  }
  // Of what stood there before the slot was used again nothing is known but that it ended.
  if (asked != issued) return Rule::kKeyFreed;
  describe_locked(index, region);
  return slot.reserved.load(std::memory_order_relaxed) == key ? Rule::kKeyNotOpen : rule_of(slot.end);
}

// Memory without a remote right has no key for peers: they are given 0. The range tells which region was meant.
bool MemoryTable::find_rightless_locked(hca::Failure& to) const {
  base::require_lock(locks::kMemoryKeys);
  for (std::uint32_t index = 1; index < fresh_; ++index) {
    const Slot& slot = *find_slot(index);
    if (slot.key.load(std::memory_order_relaxed) == 0 || slot.is_window) continue;
    const std::uint64_t start = slot.address.load(std::memory_order_relaxed);
    const std::uint64_t size = slot.length.load(std::memory_order_relaxed);
    const bool lacks_right = (slot.access.load(std::memory_order_relaxed) & to.needed) != to.needed;
    if (!lacks_right || to.address < start || to.address - start >= size) continue;
    describe_locked(index, to.region);
    to.rule = Rule::kMissingRight;
    return true;
  }
  return false;
}

// Memory that was freed and registered anew has another key.
void MemoryTable::find_successor_locked(hca::Failure& to) const {
  base::require_lock(locks::kMemoryKeys);
  for (std::uint32_t index = 1; index < fresh_ && to.present_key == 0; ++index) {
    const Slot& slot = *find_slot(index);
    const std::uint32_t key = slot.key.load(std::memory_order_relaxed);
    if (key == 0 || slot.is_window) continue;
    const std::uint64_t start = slot.address.load(std::memory_order_relaxed);
    const std::uint64_t size = slot.length.load(std::memory_order_relaxed);
    if (to.address < start || to.length > size || to.address - start > size - to.length) continue;
    if ((slot.access.load(std::memory_order_relaxed) & to.needed) == to.needed) to.present_key = key;
  }
}

void MemoryTable::explain(std::uint32_t key, std::uint64_t address, std::uint64_t length, hca::AccessMask rights,
                          Accessor who, hca::Failure& to) const {
  to.key = key;
  to.address = address;
  to.length = length;
  to.needed = rights;
  const std::lock_guard lock(mutex_);
  const AccessError fault = check(key, address, length, rights, who);
  if (key == 0 && find_rightless_locked(to)) return;
  const std::uint32_t index = key >> kTagBits;
  const Slot* const slot = key == 0 || index >= fresh_ ? nullptr : find_slot(index);
  if (slot == nullptr || slot->key.load(std::memory_order_seq_cst) != key) {
    to.rule = history_locked(key, to.region);
    if (to.rule == Rule::kKeyFreed) find_successor_locked(to);
    return;
  }
  to.rule = rule_of(fault);
  describe_locked(index, to.region);
}

}  // namespace softdat::simnic
