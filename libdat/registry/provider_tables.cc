// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/registry/provider_tables.h"

#include <utility>

#include "libdat/registry/self_memory.h"

namespace softdat::registry {

ProviderTables::~ProviderTables() {
  for (Node* node = head_.load(std::memory_order_relaxed); node != nullptr;) {
    delete std::exchange(node, node->next);
  }
}

ProviderTables::Node* ProviderTables::find_node_locked(const void* table) const {
  Node* node = head_.load(std::memory_order_relaxed);
  while (node != nullptr && node->table.load(std::memory_order_relaxed) != table) node = node->next;
  return node;
}

void ProviderTables::acquire(const void* table, OwnsHandle owns) {
  const std::lock_guard lock(mutex_);
  if (Node* known = find_node_locked(table)) {
    ++known->users;
    return;
  }
  Node* node = find_node_locked(nullptr);
  const bool is_new = node == nullptr;
  if (is_new) node = new Node;
  node->users = 1;
  node->owns.store(owns, std::memory_order_release);
  node->table.store(table, std::memory_order_release);
  if (owns == nullptr) foreign_count_.fetch_add(1, std::memory_order_release);
  if (!is_new) return;
  node->next = head_.load(std::memory_order_relaxed);
  head_.store(node, std::memory_order_release);
}

void ProviderTables::release(const void* table) {
  const std::lock_guard lock(mutex_);
  Node* node = find_node_locked(table);
  if (node == nullptr || --node->users != 0) return;
  const bool is_foreign = node->owns.load(std::memory_order_relaxed) == nullptr;
  node->table.store(nullptr, std::memory_order_release);
  node->owns.store(nullptr, std::memory_order_release);
  if (is_foreign) foreign_count_.fetch_sub(1, std::memory_order_release);
}

const void* ProviderTables::find_foreign(const void* handle) const {
  const void* word = nullptr;
  if (!read_self(handle, &word, sizeof word) || word == nullptr) return nullptr;
  return find_table(head_.load(std::memory_order_acquire), word);
}

}  // namespace softdat::registry
