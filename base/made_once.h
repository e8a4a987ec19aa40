// SPDX-License-Identifier: BSD-2-Clause
// made_once(): the one object of the process at a place, made by whoever asks first and never destroyed. FoundOnce: a
// value likewise. A static local would do, but for a child made by fork() while a thread makes it: the child would wait
// for that thread for ever.
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

// For static storage. T: a number, a truth value or an enumeration, of which any thread's finding will do.
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
