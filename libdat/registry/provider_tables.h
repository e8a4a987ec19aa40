// SPDX-License-Identifier: BSD-2-Clause
// Which provider a handle belongs to, decided without trusting the handle. The first word of every
// DAT object is the address of its provider's function table; the tables in use are those of the
// IAs that are open. This is the registry's only work on the data path.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "libdat/registry/lock_places.h"
#include "libdat/registry/provider_library.h"

namespace softdat::registry {

// Lock-free reading. Who writes: acquire() and release(), under mutex_. acquire() stores a node's
// `range`, then its `table`, and prepends a new node to `head_`; release() stores null into `table`,
// then into `range`. All are release stores, and readers load with acquire. A null table is an unused
// node; nodes are reused but never freed, so a reader may walk at any time. What `range` points at
// stays readable for good (ProviderLibrary). What a reader may miss is only a provider whose first IA is
// being opened, or whose last is being closed, at that very moment.
class ProviderTables {
 public:
  constexpr ProviderTables() = default;
  ~ProviderTables();  // nobody may be inside
  ProviderTables(const ProviderTables&) = delete;
  ProviderTables& operator=(const ProviderTables&) = delete;

  // A table whose provider has shown a HandleRange, in use or not any more; null: none yet. Such a provider stays
  // loaded, and refuses by itself, with words for a person, each handle that is none of its own (docs/REGISTRY.md).
  const void* teller() const { return teller_.load(std::memory_order_acquire); }

  // Counts one more user (an open IA) of `table`. `range` may be null.
  void acquire(const void* table, const base::HandleRange* range);

  // Ends one acquire() of the same table. At the last one its handles become invalid.
  void release(const void* table);

  // To be called before and after a call that may end the life of a handle. Between two of these,
  // a handle of a provider without HandleRange that was readable once is taken to be so still.
  void forget_readable() {
    if (foreign_count_.load(std::memory_order_relaxed) != 0) begin_epoch();
  }

  // For fork handlers, so that the child finds the list consistent.
  [[nodiscard]] bool try_lock() { return mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }

  // The table of the provider that `handle` belongs to, or null when it belongs to none.
  const void* find(const void* handle) const;

  // The same, where that can be told without a call: null says nothing. Every call that a consumer makes passes through
  // it.
  [[gnu::always_inline]] const void* find_at_once(const void* handle) const {
    for (const Node* node = head_.load(std::memory_order_acquire); node != nullptr; node = node->next) {
      const base::HandleRange* const range = node->range.load(std::memory_order_acquire);
      if (range == nullptr || !range->holds(handle)) continue;
      const void* word = __atomic_load_n(static_cast<const void* const*>(handle), __ATOMIC_RELAXED);
      if (word != nullptr && word == node->table.load(std::memory_order_acquire)) return word;
    }
    return nullptr;
  }

 private:
  struct Node {
    std::atomic<const void*> table{nullptr};
    std::atomic<const base::HandleRange*> range{nullptr};
    unsigned users = 0;    // guarded by mutex_
    Node* next = nullptr;  // fixed once the node is reachable
  };

  // `word` if it is a table in use, otherwise null.
  const void* find_table(const void* word) const;
  const void* find_foreign(const void* handle) const;
  void begin_epoch();
  Node* find_node_locked(const void* table) const;

  base::Mutex<locks::kProviderTables> mutex_;

  // Written under mutex_, read by anyone (see above).
  std::atomic<Node*> head_{nullptr};
  std::atomic<const void*> teller_{nullptr};
  std::atomic<unsigned> foreign_count_{0};  // tables in use whose provider has no HandleRange

  // Handles known to be readable, each stamped with the epoch in the bits that addresses leave free.
  // Written by any thread; an entry is right or absent, so relaxed order does.
  static constexpr unsigned kEpochShift = 48;
  static constexpr std::size_t kReadable = 256;
  mutable std::array<std::atomic<std::uintptr_t>, kReadable> readable_{};
  std::atomic<std::uintptr_t> epoch_{1};
};

}  // namespace softdat::registry
