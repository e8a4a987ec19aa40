// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/registry/ia_table.h"

#include <cstdint>
#include <utility>

#include "base/assert.h"

namespace softdat::registry {
namespace {

// Integers stay below every address a mapping can have (vm.mmap_min_addr).
constexpr std::size_t kMostRows = 65535;

// A freed integer rests until this many others are free.
constexpr std::size_t kResting = 64;

std::uintptr_t number_of(const void* handle) {
  return reinterpret_cast<std::uintptr_t>(handle);
}

}  // namespace

void* IaTable::handle_of(std::size_t row) const {
  if (handles_ == Handles::kPointers) return rows_[row].ia.object;
  return reinterpret_cast<void*>(row + 1);
}

void IaTable::check_locked() const {
  base::require_lock(locks::kIaTable);
  SOFTDAT_DEBUG_CHECK(free_ <= rows_.size() && rows_.size() <= kMostRows, "a free row is one of the table", free_,
                      rows_.size());
  SOFTDAT_DEBUG_CHECK(free_ == 0 || (!rows_[oldest_free_].is_open && !rows_[newest_free_].is_open),
                      "no IA is open in a free row", oldest_free_, newest_free_);
}

std::optional<std::size_t> IaTable::find_object_locked(const void* object) const {
  base::require_lock(locks::kIaTable);
  std::optional<std::size_t> closing;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    if (!rows_[row].is_open || rows_[row].ia.object != object) continue;
    // A provider may give a new IA the address of the one that is just being closed.
    // A row that is closing is only the second choice.
    if (!rows_[row].is_closing) return row;
    closing = row;
  }
  return closing;
}

std::optional<std::size_t> IaTable::find_row_locked(const void* handle) const {
  base::require_lock(locks::kIaTable);
  if (handle == nullptr) return std::nullopt;
  const std::uintptr_t number = number_of(handle);
  if (handles_ == Handles::kPointers || number > kMostRows) return find_object_locked(handle);
  if (number > rows_.size() || !rows_[number - 1].is_open) return std::nullopt;
  return number - 1;
}

std::optional<std::size_t> IaTable::take_row_locked() {
  check_locked();
  // The row that has been free for the longest time, once enough of them rest.
  if (free_ > kResting || (free_ > 0 && rows_.size() == kMostRows)) {
    --free_;
    return std::exchange(oldest_free_, rows_[oldest_free_].next_free);
  }
  if (rows_.size() == kMostRows) return std::nullopt;
  rows_.emplace_back();
  return rows_.size() - 1;
}

void* IaTable::add(OpenIa&& ia) {
  const std::lock_guard lock(mutex_);
  const std::optional<std::size_t> row = take_row_locked();
  if (!row) return nullptr;
  base::check(!rows_[*row].is_open, "a row that is given out is free", *row);
  rows_[*row] = Row{std::move(ia), true, false};
  return handle_of(*row);
}

std::optional<IaTable::Found> IaTable::find(const void* handle) const {
  const std::lock_guard lock(mutex_);
  const std::optional<std::size_t> row = find_row_locked(handle);
  if (!row) return std::nullopt;
  return Found{rows_[*row].ia.object, rows_[*row].ia.table};
}

void* IaTable::integer_of(const void* object) const {
  const std::lock_guard lock(mutex_);
  const std::optional<std::size_t> row = find_object_locked(object);
  return row ? handle_of(*row) : nullptr;
}

void* IaTable::object_of(const void* integer) const {
  const std::lock_guard lock(mutex_);
  if (number_of(integer) > kMostRows) return nullptr;
  const std::optional<std::size_t> row = find_row_locked(integer);
  return row ? rows_[*row].ia.object : nullptr;
}

std::optional<IaTable::Closing> IaTable::begin_close(const void* handle) {
  const std::lock_guard lock(mutex_);
  const std::optional<std::size_t> row = find_row_locked(handle);
  if (!row || rows_[*row].is_closing) return std::nullopt;
  // Calls find the IA until end_close(): the provider decides what they answer.
  rows_[*row].is_closing = true;
  return Closing{*row, rows_[*row].ia.object, rows_[*row].ia.table};
}

OpenIa IaTable::end_close(std::size_t token) {
  const std::lock_guard lock(mutex_);
  base::check(token < rows_.size() && rows_[token].is_open && rows_[token].is_closing, "begin_close() gave the token",
              token, rows_.size());
  if (free_++ == 0)
    oldest_free_ = token;
  else
    rows_[newest_free_].next_free = token;
  newest_free_ = token;
  OpenIa closed = std::exchange(rows_[token], Row{}).ia;
  check_locked();
  return closed;
}

void IaTable::cancel_close(std::size_t token) {
  const std::lock_guard lock(mutex_);
  base::check(token < rows_.size() && rows_[token].is_closing, "begin_close() gave the token", token, rows_.size());
  rows_[token].is_closing = false;
}

std::vector<IaTable::Found> IaTable::find_by_name(const std::string& ia_name) const {
  const std::lock_guard lock(mutex_);
  std::vector<Found> found;
  for (const Row& row : rows_) {
    if (row.is_open && row.ia.lease.key.ia_name == ia_name) {
      found.push_back({row.ia.object, row.ia.table});
    }
  }
  return found;
}

}  // namespace softdat::registry
