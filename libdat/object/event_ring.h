// SPDX-License-Identifier: BSD-2-Clause
// The bounded queue of an EVD's events that are not DTO completions. Memory is taken when it is
// made or resized, never when an event arrives.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "libdat/object/event.h"

namespace softdat::object {

// Any thread. size_ and popped_ are written under the lock (sequentially consistent, so that size_ pairs with
// EventCount::prepare) and read without.
class EventRing {
 public:
  // Room for `capacity` events.
  void set_up(std::size_t capacity);

  bool is_empty() const { return size_.load(std::memory_order_seq_cst) == 0; }
  std::size_t size() const { return size_.load(std::memory_order_seq_cst); }

  // The event's number, or nothing when the ring is full. `completions_ahead` completions stood in the EVD's completion
  // queue when the event came: they are to be handed out first.
  [[nodiscard]] std::optional<std::uint64_t> push(const Event& event, std::size_t completions_ahead);

  // Whether the event with that number has not been popped yet.
  bool holds(std::uint64_t number) const { return popped_.load(std::memory_order_seq_cst) <= number; }

  // Whether the oldest event still waits for a completion that came before it. Counts one down.
  [[nodiscard]] bool must_yield_to_completion();

  // The oldest event, whatever it waits for.
  [[nodiscard]] bool pop(Event& event);

  // False, and nothing changed, when more events wait than `capacity`.
  [[nodiscard]] bool resize(std::size_t capacity);

 private:
  struct Entry {
    Event event;
    std::size_t completions_ahead;
  };

  std::atomic<std::size_t> size_{0};
  std::atomic<std::uint64_t> popped_{0};  // how many events have been

  // Guarded by mutex_.
  std::mutex mutex_;
  std::vector<Entry> entries_;
  std::size_t head_ = 0;
};

}  // namespace softdat::object
