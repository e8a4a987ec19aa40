// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/memory_table.h"

#include "base/assert.h"

namespace softdat::simnic {

MemoryTable::~MemoryTable() {
  for (auto& chunk : chunks_) delete chunk.load(std::memory_order_relaxed);
}

MemoryTable::Slot* MemoryTable::find(std::uint32_t index) const {
  if (index >= kMaxRegions) return nullptr;
  Chunk* chunk = chunks_[index / kChunkSize].load(std::memory_order_acquire);
  return chunk == nullptr ? nullptr : &(*chunk)[index % kChunkSize];
}

std::optional<std::uint32_t> MemoryTable::take_index_locked() {
  const bool has_fresh = fresh_ < kMaxRegions;
  if (resting_.size() > kRestingSlots || (!has_fresh && !resting_.empty())) {
    const std::uint32_t index = resting_.front();
    resting_.pop_front();
    return index;
  }
  if (!has_fresh) return std::nullopt;
  auto& chunk = chunks_[fresh_ / kChunkSize];
  if (chunk.load(std::memory_order_relaxed) == nullptr) chunk.store(new Chunk, std::memory_order_release);
  Slot& slot = *find(fresh_);
  // Any odd multiplier spreads neighbouring indices over the tags.
  slot.tag = static_cast<std::uint8_t>(salt_ + fresh_ * 37);
  return fresh_++;
}

std::optional<std::uint32_t> MemoryTable::insert(const MemoryGrant& grant) {
  const std::lock_guard lock(mutex_);
  const auto index = take_index_locked();
  if (!index) return std::nullopt;
  Slot& slot = *find(*index);
  const std::uint32_t key = (*index << kTagBits) | ++slot.tag;
  slot.address.store(grant.address, std::memory_order_relaxed);
  slot.length.store(grant.length, std::memory_order_relaxed);
  slot.access.store(grant.access, std::memory_order_relaxed);
  slot.domain.store(grant.domain, std::memory_order_relaxed);
  slot.key.store(key, std::memory_order_release);
  size_.fetch_add(1, std::memory_order_relaxed);
  return key;
}

void MemoryTable::remove(std::uint32_t key) {
  const std::uint32_t index = key >> kTagBits;
  Slot* slot = find(index);
  base::check(slot != nullptr && slot->key.load(std::memory_order_relaxed) == key, "only live keys are removed", key);
  slot->key.store(0, std::memory_order_release);
  size_.fetch_sub(1, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  resting_.push_back(index);
}

KeyFault MemoryTable::check(std::uint32_t key, std::uint64_t address, std::uint64_t length, hca::AccessMask rights,
                            std::uint32_t domain) const {
  if (length == 0) return KeyFault::kNone;
  const Slot* slot = find(key >> kTagBits);
  if (key == 0 || slot == nullptr || slot->key.load(std::memory_order_acquire) != key) return KeyFault::kBadKey;
  if (slot->domain.load(std::memory_order_relaxed) != domain) return KeyFault::kWrongDomain;
  if (address + length < address) return KeyFault::kWraps;
  const std::uint64_t start = slot->address.load(std::memory_order_relaxed);
  const std::uint64_t size = slot->length.load(std::memory_order_relaxed);
  // Neither side of these can overflow: address >= start before the subtraction.
  if (address < start || length > size || address - start > size - length) return KeyFault::kOutOfRange;
  if ((slot->access.load(std::memory_order_relaxed) & rights) != rights) return KeyFault::kMissingRight;
  return KeyFault::kNone;
}

}  // namespace softdat::simnic
