// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/registry/provider_tables.h"

#include <utility>

#include "base/assert.h"
#include "libdat/registry/self_memory.h"

namespace softdat::registry {

ProviderTables::~ProviderTables() {
  for (Node* node = head_.load(std::memory_order_relaxed); node != nullptr;) {
    delete std::exchange(node, node->next);
  }
}

ProviderTables::Node* ProviderTables::find_node_locked(const void* table) const {
  base::require_lock(locks::kProviderTables);
  Node* node = head_.load(std::memory_order_relaxed);
  while (node != nullptr && node->table.load(std::memory_order_relaxed) != table) node = node->next;
  return node;
}

void ProviderTables::acquire(const void* table, const base::HandleRange* range) {
  base::check(table != nullptr, "a node without a table is unused");
  const std::lock_guard lock(mutex_);
  if (range != nullptr) teller_.store(table, std::memory_order_release);
  if (Node* known = find_node_locked(table)) {
    SOFTDAT_DEBUG_CHECK(known->users > 0, "a table that is listed is in use");
    ++known->users;
    return;
  }
  // Readers walk the list without a lock, so no node is freed: an unused one serves again.
  Node* node = find_node_locked(nullptr);
  const bool is_new = node == nullptr;
  if (is_new) node = new Node;
  SOFTDAT_DEBUG_CHECK(node->users == 0, "an unused node has no users", node->users);
  node->users = 1;
  // The range first: a reader that sees the table must see its range.
  node->range.store(range, std::memory_order_release);
  node->table.store(table, std::memory_order_release);
  if (range == nullptr) foreign_count_.fetch_add(1, std::memory_order_release);
  if (!is_new) return;
  node->next = head_.load(std::memory_order_relaxed);
  head_.store(node, std::memory_order_release);
}

void ProviderTables::release(const void* table) {
  const std::lock_guard lock(mutex_);
  Node* node = find_node_locked(table);
  SOFTDAT_DEBUG_CHECK(node == nullptr || node->users > 0, "a table that is listed is in use");
  if (node == nullptr || --node->users != 0) return;
  const bool is_foreign = node->range.load(std::memory_order_relaxed) == nullptr;
  node->table.store(nullptr, std::memory_order_release);
  node->range.store(nullptr, std::memory_order_release);
  SOFTDAT_DEBUG_CHECK(!is_foreign || foreign_count_.load(std::memory_order_relaxed) > 0,
                      "tables without a range of handles are counted");
  if (is_foreign) foreign_count_.fetch_sub(1, std::memory_order_release);
}

// Runs without a lock, on the data path of foreign providers.
const void* ProviderTables::find_table(const void* word) const {
  const Node* node = head_.load(std::memory_order_acquire);
  while (node != nullptr && node->table.load(std::memory_order_acquire) != word) node = node->next;
  return node == nullptr ? nullptr : word;
}

const void* ProviderTables::find(const void* handle) const {
  if (const void* table = find_at_once(handle)) return table;
  return foreign_count_.load(std::memory_order_acquire) == 0 ? nullptr : find_foreign(handle);
}

// Every look at a foreign handle would cost a system call, on the data path too. A live handle stays
// readable, so the first look is remembered until something may have ended its life.
const void* ProviderTables::find_foreign(const void* handle) const {
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  if (handle == nullptr || number % alignof(void*) != 0) return nullptr;
  if (number >> kEpochShift != 0) return nullptr;  // no address that a process can have
  const std::uintptr_t stamp = number | epoch_.load(std::memory_order_acquire) << kEpochShift;
  std::atomic<std::uintptr_t>& remembered = readable_[number / 16 % kReadable];
  const void* word = nullptr;
  const bool is_known = remembered.load(std::memory_order_relaxed) == stamp;
  if (is_known) {
    word = __atomic_load_n(static_cast<const void* const*>(handle), __ATOMIC_RELAXED);
  } else if (!read_self(handle, &word, sizeof word)) {
    return nullptr;
  }
  if (word == nullptr) return nullptr;
  const void* table = find_table(word);
  if (table != nullptr && !is_known) remembered.store(stamp, std::memory_order_relaxed);
  return table;
}

void ProviderTables::begin_epoch() {
  const std::uintptr_t epoch = epoch_.fetch_add(1, std::memory_order_acq_rel) + 1;
  // The epoch's upper bits fall off in a stamp; before a stamp could repeat, all are dropped.
  if (epoch << kEpochShift != 0) return;
  for (auto& remembered : readable_) remembered.store(0, std::memory_order_relaxed);
}

}  // namespace softdat::registry
