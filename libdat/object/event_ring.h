// SPDX-License-Identifier: BSD-2-Clause
// EventRing: the bounded queue of an EVD's events other than DTO completions. set_up() and resize() allocate; push()
// never does.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "libdat/object/event.h"
#include "libdat/object/lock_places.h"

namespace softdat::object {

// Any thread. size_ and popped_ are written under the lock and read without it. The stores are sequentially consistent,
// because size_ pairs with EventCount::prepare().
class EventRing {
 public:
  // Allocates for `capacity` events. Throws std::bad_alloc.
  void set_up(std::size_t capacity);

  bool is_empty() const { return size_.load(std::memory_order_seq_cst) == 0; }
  std::size_t size() const { return size_.load(std::memory_order_seq_cst); }
  // The most events that have waited at once.
  std::size_t high_water() const { return high_water_.load(std::memory_order_relaxed); }

  // Adds an event and returns its number; empty if the ring is full. `completions_ahead`: how many completions were in
  // the EVD's completion queue when the event came. They must be taken first.
  [[nodiscard]] std::optional<std::uint64_t> push(const Event& event, std::size_t completions_ahead);

  // Whether the event with that number is still in the ring.
  bool holds(std::uint64_t number) const { return popped_.load(std::memory_order_seq_cst) <= number; }

  // Whether a completion that came before the oldest event must be taken first. Counts one such completion.
  [[nodiscard]] bool must_yield_to_completion();

  // Takes the oldest event. False if there is none.
  [[nodiscard]] bool pop(Event& event);

  // Allocates for so many events, which changes nothing yet. Throws std::bad_alloc.
  void reserve(std::size_t capacity);
  // How many events may wait from now on; no more than was reserved. Those that wait stay, also if they are more. With
  // 0 the ring takes none any more.
  void set_capacity(std::size_t capacity);

 private:
  void check_locked() const;

  struct Entry {
    Event event;
    std::size_t completions_ahead;
  };

  std::atomic<std::size_t> size_{0};
  std::atomic<std::uint64_t> popped_{0};    // how many events were taken so far
  std::atomic<std::size_t> high_water_{0};  // written under the lock

  // Guarded by mutex_.
  base::Mutex<locks::kEventRing> mutex_;
  std::vector<Entry> entries_;
  std::size_t capacity_ = 0;
  std::size_t head_ = 0;
};

}  // namespace softdat::object
