// SPDX-License-Identifier: BSD-2-Clause
// BriefLock: a mutex of four bytes (std::mutex has forty), for sections with little contention. Locking and unlocking
// are inline; a contending thread sleeps on a private futex. Not recursive, not fair, no cancellation point; errno
// stays as it is. Meets the standard's Lockable, so std::lock_guard works with it.
//
// `word_` is 0 (free), 1 (held) or 2 (held, and a thread may sleep). lock() changes it by a read-modify-write that
// acquires, unlock() by one that releases. A thread writes 2 before it sleeps, and again after it wakes, because other
// threads may still sleep.
#pragma once

#include <atomic>
#include <cstdint>

namespace softdat::base {

class BriefLock {
 public:
  BriefLock() = default;
  BriefLock(const BriefLock&) = delete;
  BriefLock& operator=(const BriefLock&) = delete;

  [[gnu::always_inline]] void lock() {
    if (!try_lock()) [[unlikely]]
      lock_contended();
  }
  [[gnu::always_inline]] bool try_lock() {
    std::uint32_t free = 0;
    return word_.compare_exchange_strong(free, 1, std::memory_order_acquire, std::memory_order_relaxed);
  }
  [[gnu::always_inline]] void unlock() {
    if (word_.exchange(0, std::memory_order_release) == 2) [[unlikely]]
      wake_one();
  }

 private:
  void lock_contended();
  void wake_one();

  std::atomic<std::uint32_t> word_{0};
};

}  // namespace softdat::base
