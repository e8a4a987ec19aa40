// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/event_ring.h"

#include <algorithm>

#include "base/assert.h"

namespace softdat::object {

void EventRing::check_locked() const {
  base::require_lock(locks::kEventRing);
  SOFTDAT_DEBUG_CHECK(size_.load(std::memory_order_relaxed) <= entries_.size(), "no more events wait than have room",
                      size_.load(std::memory_order_relaxed), entries_.size());
  SOFTDAT_DEBUG_CHECK(head_ < entries_.size() || head_ == 0, "the oldest event stands in the ring", head_,
                      entries_.size());
  SOFTDAT_DEBUG_CHECK(size_.load(std::memory_order_relaxed) <= high_water_.load(std::memory_order_relaxed),
                      "the high-water mark is at least what waits now");
}

void EventRing::set_up(std::size_t capacity) {
  std::lock_guard lock(mutex_);
  SOFTDAT_DEBUG_CHECK(entries_.empty(), "set_up() gives the first room; reserve() adds to it", entries_.size());
  entries_.resize(capacity);
  capacity_ = capacity;
}

std::optional<std::uint64_t> EventRing::push(const Event& event, std::size_t completions_ahead) {
  std::lock_guard lock(mutex_);
  check_locked();
  const std::size_t size = size_.load(std::memory_order_relaxed);
  if (size >= capacity_) return std::nullopt;
  entries_[(head_ + size) % entries_.size()] = {event, completions_ahead};
  size_.store(size + 1, std::memory_order_seq_cst);
  if (size >= high_water_.load(std::memory_order_relaxed)) high_water_.store(size + 1, std::memory_order_relaxed);
  // The event's number: how many were added before it.
  return popped_.load(std::memory_order_relaxed) + size;
}

// Each call that answers true counts one completion as taken.
bool EventRing::must_yield_to_completion() {
  std::lock_guard lock(mutex_);
  if (size_.load(std::memory_order_relaxed) == 0) return true;
  std::size_t& ahead = entries_[head_].completions_ahead;
  if (ahead == 0) return false;
  --ahead;
  return true;
}

bool EventRing::pop(Event& event) {
  std::lock_guard lock(mutex_);
  check_locked();
  const std::size_t size = size_.load(std::memory_order_relaxed);
  if (size == 0) return false;
  event = entries_[head_].event;
  head_ = (head_ + 1) % entries_.size();
  size_.store(size - 1, std::memory_order_seq_cst);
  popped_.store(popped_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
  return true;
}

void EventRing::reserve(std::size_t capacity) {
  std::vector<Entry> entries(capacity);  // before the lock: this may fail
  std::lock_guard lock(mutex_);
  if (capacity <= entries_.size()) return;
  const std::size_t size = size_.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < size; ++i) entries[i] = entries_[(head_ + i) % entries_.size()];
  entries_.swap(entries);
  head_ = 0;
  check_locked();
}

void EventRing::set_capacity(std::size_t capacity) {
  std::lock_guard lock(mutex_);
  base::check(capacity <= entries_.size(), "reserve() gives the room first", capacity, entries_.size());
  capacity_ = capacity;
}

}  // namespace softdat::object
