// SPDX-License-Identifier: BSD-2-Clause
// KeySlots: the slots behind a NIC's memory keys, and which key comes next. A key is 24 bits of index and 8 bits of
// tag. The tag changes with every reuse of a slot, and slots are reused oldest first. Key 0 is never given out.
//
// Owns the slots, in chunks that grow and never go while it lives, so a pointer to a slot stays valid. Says nothing of
// what a key opens: its user fills a slot, then publishes the key in it.
//
// Threads: the lookups may be called from any thread without a lock. What ends in _locked REQUIRES the lock of memory
// keys. Errors: take_locked() returns nothing when all slots are taken, and throws std::bad_alloc without any effect.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace softdat::simnic {

class WindowState;

// How a key ended.
enum class KeyEnd : std::uint8_t { kFreed, kRebound, kUnbound, kInvalidated };

// The region or window that a key stands for. The writer fills the slot, then publishes `key` (release). A reader
// matches `key` (acquire) before it looks at the rest.
struct alignas(64) KeySlot {
  std::atomic<std::uint32_t> key{0};  // 0: free, or reserved
  std::atomic<std::uint32_t> access{0};
  std::atomic<std::uint64_t> address{0};
  std::atomic<std::uint64_t> length{0};
  std::atomic<std::uint64_t> shift{0};
  std::atomic<std::uint32_t> domain{0};  // or the stream, for a window of one queue pair
  std::atomic<std::uint32_t> region{0};  // of a window: the key of its region
  std::atomic<std::uint32_t> reserved{0};
  // Guarded by the lock of memory keys.
  std::uint32_t note = 0;       // of a window; of a resting slot: the next one
  std::uint32_t windows = 0;    // of a region: how many keys are reserved or open over it
  std::uint8_t tag = 0;         // of the last key
  KeyEnd end = KeyEnd::kFreed;  // of the last key
  bool is_window = false;       // or was
  WindowState* window = nullptr;
};

inline constexpr std::uint32_t kKeyTagBits = 8;
constexpr std::uint32_t index_of_key(std::uint32_t key) {
  return key >> kKeyTagBits;
}

class KeySlots {
 public:
  static constexpr std::uint32_t kSlots = 1u << 20;
  // The oldest freed slot is used again when more than so many rest.
  static constexpr std::size_t kRestingSlots = 4096;

  // `salt` varies the tags, so that one process's keys seldom open another's regions.
  explicit KeySlots(std::uint8_t salt) : salt_(salt) {}
  ~KeySlots();
  KeySlots(const KeySlots&) = delete;
  KeySlots& operator=(const KeySlots&) = delete;

  // The slot of that index; null if no chunk has it yet. Inline, like find_live(): every check of a key calls them.
  KeySlot* find(std::uint32_t index) const {
    if (index >= kSlots) return nullptr;
    Chunk* chunk = chunks_[index / kChunkSize].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : &(*chunk)[index % kChunkSize];
  }
  // The slot of an index that was used.
  KeySlot& used(std::uint32_t index) const {
    return (*chunks_[index / kChunkSize].load(std::memory_order_acquire))[index % kChunkSize];
  }
  // The slot in which exactly this key is published; else null.
  KeySlot* find_live(std::uint32_t key) const {
    KeySlot* slot = find(index_of_key(key));
    const bool is_live = key != 0 && slot != nullptr && slot->key.load(std::memory_order_seq_cst) == key;
    return is_live ? slot : nullptr;
  }
  // How many slots are taken.
  std::uint32_t size() const { return size_.load(std::memory_order_relaxed); }

  // Takes a free slot. Returns its next key, which is not published yet.
  std::optional<std::uint32_t> take_locked();
  // REQUIRES: the slot is taken, and its key is withdrawn.
  void give_back_locked(std::uint32_t index);

  // Indices from here on were never used.
  std::uint32_t fresh_locked() const { return fresh_; }
  // The key that the slot has given out last. REQUIRES: the index was used.
  std::uint32_t last_key_locked(std::uint32_t index) const { return index << kKeyTagBits | used(index).tag; }
  // Which of its slot's keys this is, modulo 256: 1 is the first one.
  std::uint8_t generation_of(std::uint32_t key) const {
    return static_cast<std::uint8_t>(key - first_tag(index_of_key(key)));
  }

 private:
  static constexpr std::uint32_t kChunkSize = 1024;
  static constexpr std::uint32_t kTagStep = 37;  // any odd one spreads neighbouring indices over the tags
  using Chunk = std::array<KeySlot, kChunkSize>;

  std::uint8_t first_tag(std::uint32_t index) const { return static_cast<std::uint8_t>(salt_ + index * kTagStep); }
  std::optional<std::uint32_t> take_index_locked();
  std::uint32_t take_oldest_locked();

  const std::uint8_t salt_;
  // Published once each, never taken away while this lives.
  std::array<std::atomic<Chunk*>, kSlots / kChunkSize> chunks_{};
  std::atomic<std::uint32_t> size_{0};
  // Guarded by the lock of memory keys.
  // Freed slots, oldest first, chained by their notes: to free one takes no memory.
  std::uint32_t oldest_resting_ = 0;
  std::uint32_t newest_resting_ = 0;
  std::uint32_t resting_ = 0;
  std::uint32_t fresh_ = 1;
};

}  // namespace softdat::simnic
