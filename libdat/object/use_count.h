// SPDX-License-Identifier: BSD-2-Clause
// UseCount: the number of users of an object. An object in use cannot be freed, and one that is freed cannot be used.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/assert.h"

namespace softdat::object {

// One word: the number of users, or kClosed, which is final. Any thread.
class UseCount {
 public:
  [[nodiscard]] bool try_acquire() {
    std::int64_t count = count_.load(std::memory_order_relaxed);
    while (count != kClosed) {
      if (count_.compare_exchange_weak(count, count + 1, std::memory_order_acquire)) return true;
    }
    return false;
  }
  void release() {
    std::int64_t count = count_.load(std::memory_order_relaxed);
    SOFTDAT_DEBUG_CHECK(count != 0, "each release() ends one successful try_acquire()");
    while (count > 0 && !count_.compare_exchange_weak(count, count - 1, std::memory_order_release)) {
    }
  }
  // Closes it, unless there are users. True also if it was closed before: of several threads that free an object,
  // HandleTable::close() names the first.
  [[nodiscard]] bool try_close() {
    std::int64_t found = 0;
    return count_.compare_exchange_strong(found, kClosed, std::memory_order_acquire) || found == kClosed;
  }
  // Closes it although there may be users. Their release() does nothing then.
  void close() { count_.store(kClosed, std::memory_order_release); }

  bool is_closed() const { return count_.load(std::memory_order_acquire) == kClosed; }
  std::int64_t count() const { return count_.load(std::memory_order_acquire); }

 private:
  static constexpr std::int64_t kClosed = -1;
  std::atomic<std::int64_t> count_{0};
};

}  // namespace softdat::object
