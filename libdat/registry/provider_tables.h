// SPDX-License-Identifier: BSD-2-Clause
// Which provider a handle belongs to, decided without trusting the handle. The first word of every
// DAT object is the address of its provider's function table; the tables in use are those of the
// IAs that are open. This is the registry's only work on the data path.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "libdat/registry/provider_library.h"

namespace softdat::registry {

// Lock-free reading. Who writes: acquire() and release(), under mutex_, write a node's `owns`, then
// its `table` (release order); nodes are prepended to `head_` (release) and never freed, so a
// reader may walk at any time. What a reader loads (acquire): `head_`, then per node `table`, then
// `owns`; a null table is an unused node. A node may be reused for another table while a reader
// looks; the reader compares the handle's own word with the table it loaded, so at worst it misses
// a provider whose IA is being opened or closed at that very moment.
class ProviderTables {
 public:
  ProviderTables() = default;
  ProviderTables(const ProviderTables&) = delete;
  ProviderTables& operator=(const ProviderTables&) = delete;

  // Counts one more user (an open IA) of `table`. `owns` may be null.
  void acquire(const void* table, OwnsHandle owns);

  // Ends one acquire() of the same table. At the last one its handles become invalid.
  void release(const void* table);

  // The table of the provider that `handle` belongs to, or null when it belongs to none.
  const void* find(const void* handle) const {
    if (handle == nullptr || reinterpret_cast<std::uintptr_t>(handle) % alignof(void*) != 0) {
      return nullptr;
    }
    for (const Node* node = head_.load(std::memory_order_acquire); node != nullptr; node = node->next) {
      const void* table = node->table.load(std::memory_order_acquire);
      if (table == nullptr) continue;
      const OwnsHandle owns = node->owns.load(std::memory_order_relaxed);
      if (owns == nullptr || owns(handle) == 0) continue;
      const void* word = __atomic_load_n(static_cast<const void* const*>(handle), __ATOMIC_RELAXED);
      if (word == table) return table;
    }
    return foreign_count_.load(std::memory_order_acquire) == 0 ? nullptr : find_foreign(handle);
  }

 private:
  struct Node {
    std::atomic<const void*> table{nullptr};
    std::atomic<OwnsHandle> owns{nullptr};
    unsigned users = 0;    // guarded by mutex_
    Node* next = nullptr;  // fixed once the node is reachable
  };

  const void* find_foreign(const void* handle) const;
  Node* find_node_locked(const void* table) const;

  std::mutex mutex_;

  // Written under mutex_, read by anyone (see above).
  std::atomic<Node*> head_{nullptr};
  std::atomic<unsigned> foreign_count_{0};  // tables in use whose provider has no OwnsHandle
};

}  // namespace softdat::registry
