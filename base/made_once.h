// SPDX-License-Identifier: BSD-2-Clause
// made_once(): creates an object of the process at its first use; it is never destroyed. FoundOnce: the same for a
// value. Use them instead of a static local: if another thread is initializing one during fork(), the child deadlocks
// at it.
#pragma once

#include <atomic>
#include <memory>

namespace softdat::base {

// Any thread. `make` returns a std::unique_ptr<T>, and is called by each of several that ask first at once: what all
// but one of them make is destroyed. Throws what `make` throws.
template <typename T, typename Make>
T& made_once(std::atomic<T*>& place, Make make) {
  T* known = place.load(std::memory_order_acquire);
  if (known != nullptr) return *known;
  std::unique_ptr<T> made = make();
  if (!place.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel, std::memory_order_acquire))
    return *known;
  return *made.release();
}

// A cached value in static storage. T is a number, bool or enumeration. Threads that call get() first at once may find
// different values; the last one stays.
template <typename T>
class FoundOnce {
 public:
  // Any thread. `find` is called by each of several that ask first at once. Throws what `find` throws.
  template <typename Find>
  T get(Find find) {
    if (!is_found_.load(std::memory_order_acquire)) {
      value_.store(find(), std::memory_order_relaxed);
      is_found_.store(true, std::memory_order_release);
    }
    return value_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<T> value_{};
  std::atomic<bool> is_found_{false};
};

}  // namespace softdat::base
