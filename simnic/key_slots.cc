// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/key_slots.h"

#include <utility>

#include "simnic/direct/layout.h"
#include "simnic/lock_places.h"

namespace softdat::simnic {

static_assert(kKeyTagBits == direct::kKeyTagBits);
static_assert(KeySlots::kSlots == direct::kKeyEntries);

KeySlots::~KeySlots() {
  for (auto& chunk : chunks_) delete chunk.load(std::memory_order_relaxed);
}

std::optional<std::uint32_t> KeySlots::take_locked() {
  base::require_lock(locks::kMemoryKeys);
  const auto index = take_index_locked();
  if (!index) return std::nullopt;
  size_.fetch_add(1, std::memory_order_relaxed);
  // The tag wraps after 256 lives of a slot. Index 0 is not used, so no key is 0.
  return (*index << kKeyTagBits) | ++used(*index).tag;
}

std::optional<std::uint32_t> KeySlots::take_index_locked() {
  base::require_lock(locks::kMemoryKeys);
  const bool has_fresh = fresh_ < kSlots;
  // A freed slot rests for long, so a key that is used after its end is refused and not mistaken for a later one
  // (decision 13).
  if (resting_ > kRestingSlots || (!has_fresh && resting_ > 0)) return take_oldest_locked();
  if (!has_fresh) return std::nullopt;
  auto& chunk = chunks_[fresh_ / kChunkSize];
  // Pairs with the lookups, which take no lock.
  if (chunk.load(std::memory_order_relaxed) == nullptr) chunk.store(new Chunk, std::memory_order_release);
  used(fresh_).tag = first_tag(fresh_);
  return fresh_++;
}

std::uint32_t KeySlots::take_oldest_locked() {
  base::require_lock(locks::kMemoryKeys);
  --resting_;
  const std::uint32_t index = oldest_resting_;
  oldest_resting_ = std::exchange(used(index).note, 0);
  return index;
}

// To the end of the queue of resting slots, which is linked through the slots themselves: no allocation.
void KeySlots::give_back_locked(std::uint32_t index) {
  base::require_lock(locks::kMemoryKeys);
  size_.fetch_sub(1, std::memory_order_relaxed);
  if (resting_++ == 0)
    oldest_resting_ = index;
  else
    used(newest_resting_).note = index;
  newest_resting_ = index;
}

}  // namespace softdat::simnic
