// SPDX-License-Identifier: BSD-2-Clause
// The tag of a slot's first key follows from its index, and each further key raises it: so a key that was issued is
// told from one that never was.
#include "simnic/key_history.h"

#include <new>

#include "base/call.h"
#include "simnic/lock_places.h"

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

// Places are worth no failure: without memory there are none.
void KeyHistory::note_place_locked(std::uint32_t index) {
  base::require_lock(locks::kMemoryKeys);
  const void* const place = base::calling_place();
  if (place == nullptr && places_.empty()) return;
  try {
    places_[index] = place;
  } catch (const std::bad_alloc&) {
    places_.erase(index);
  }
}

// The slot keeps the fields of its last key until it is used again.
void KeyHistory::describe_locked(std::uint32_t index, hca::RegionFacts& region) const {
  base::require_lock(locks::kMemoryKeys);
  const KeySlot& slot = slots_.used(index);
  const auto place = places_.find(index);
  region = {.key = slots_.last_key_locked(index),
            .address = slot.address.load(std::memory_order_relaxed),
            .length = slot.length.load(std::memory_order_relaxed),
            .access = slot.access.load(std::memory_order_relaxed),
            .is_window = slot.is_window,
            .registered = place == places_.end() ? nullptr : place->second};
}

// REQUIRES: the key is not open.
Rule KeyHistory::history_locked(std::uint32_t key, hca::RegionFacts& region) const {
  base::require_lock(locks::kMemoryKeys);
  const std::uint32_t index = index_of_key(key);
  if (index == 0 || index >= slots_.fresh_locked()) {
    // Numbers that travel between hosts are often turned round once too often.
    const std::uint32_t reversed = __builtin_bswap32(key);
    const std::uint32_t meant = index_of_key(reversed);
    if (meant > 0 && meant < slots_.fresh_locked()) describe_locked(meant, region);
    if (region.key != reversed) region = {};
    return Rule::kKeyNeverIssued;
  }
  const KeySlot& slot = slots_.used(index);
  const std::uint8_t issued = slots_.generation_of(slots_.last_key_locked(index));
  const std::uint8_t asked = slots_.generation_of(key);
  if (asked == 0 || asked > issued) {
    if (slot.key.load(std::memory_order_relaxed) != 0) describe_locked(index, region);
    return Rule::kKeyNeverIssued;
  }
  // The slot has been used again, so of the earlier key only its end is known.
  if (asked != issued) return Rule::kKeyFreed;
  describe_locked(index, region);
  return slot.reserved.load(std::memory_order_relaxed) == key ? Rule::kKeyNotOpen : rule_of(slot.end);
}

// Memory without a remote right has no key for peers: they are given 0. The range tells which region was meant.
bool KeyHistory::find_rightless_locked(hca::Failure& to) const {
  base::require_lock(locks::kMemoryKeys);
  for (std::uint32_t index = 1; index < slots_.fresh_locked(); ++index) {
    const KeySlot& slot = slots_.used(index);
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
void KeyHistory::find_successor_locked(hca::Failure& to) const {
  base::require_lock(locks::kMemoryKeys);
  for (std::uint32_t index = 1; index < slots_.fresh_locked() && to.present_key == 0; ++index) {
    const KeySlot& slot = slots_.used(index);
    const std::uint32_t key = slot.key.load(std::memory_order_relaxed);
    if (key == 0 || slot.is_window) continue;
    const std::uint64_t start = slot.address.load(std::memory_order_relaxed);
    const std::uint64_t size = slot.length.load(std::memory_order_relaxed);
    if (to.address < start || to.length > size || to.address - start > size - to.length) continue;
    if ((slot.access.load(std::memory_order_relaxed) & to.needed) == to.needed) to.present_key = key;
  }
}

// Only after a failure, so a walk over all keys is fast enough.
void KeyHistory::explain_locked(Rule fault, hca::Failure& to) const {
  base::require_lock(locks::kMemoryKeys);
  if (to.key == 0 && find_rightless_locked(to)) return;
  if (slots_.find_live(to.key) == nullptr) {
    to.rule = history_locked(to.key, to.region);
    if (to.rule == Rule::kKeyFreed) find_successor_locked(to);
    return;
  }
  to.rule = fault;
  describe_locked(index_of_key(to.key), to.region);
}

}  // namespace softdat::simnic
