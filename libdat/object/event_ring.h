// SPDX-License-Identifier: BSD-2-Clause
// The bounded queue of an EVD's events that are not DTO completions. Memory is taken when it is
// made or resized, never when an event arrives.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

#include "libdat/object/event.h"

namespace softdat::object {

// Any thread. size_ is written under the lock (sequentially consistent, so that it pairs with
// EventCount::prepare) and read without.
class EventRing {
 public:
  // Room for `capacity` events.
  void set_up(std::size_t capacity);

  bool is_empty() const { return size_.load(std::memory_order_seq_cst) == 0; }
  std::size_t size() const { return size_.load(std::memory_order_seq_cst); }

  // False when full. `completions_ahead` completions stood in the EVD's completion queue when the
  // event came: they are to be handed out first.
  [[nodiscard]] bool push(const Event& event, std::size_t completions_ahead);

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

  // Guarded by mutex_.
  std::mutex mutex_;
  std::vector<Entry> entries_;
  std::size_t head_ = 0;
};

}  // namespace softdat::object
