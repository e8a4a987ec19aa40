// SPDX-License-Identifier: BSD-2-Clause
// SpinLock: a mutex for sections that take some tens of nanoseconds nearly always. One locked instruction to take it,
// none to give it back. A contending thread pauses, then yields, then sleeps in between, because the holder may be at
// something longer, or have lost its processor, perhaps to that very thread. Not recursive, not fair. Meets the
// standard's Lockable.
#pragma once

#include <atomic>

namespace softdat::base {

class SpinLock {
 public:
  SpinLock() = default;
  SpinLock(const SpinLock&) = delete;
  SpinLock& operator=(const SpinLock&) = delete;

  void lock() {
    if (!try_lock()) [[unlikely]]
      lock_contended();
  }
  bool try_lock() { return !is_held_.exchange(true, std::memory_order_acquire); }
  void unlock() { is_held_.store(false, std::memory_order_release); }

 private:
  [[gnu::noinline, gnu::cold]] void lock_contended();

  std::atomic<bool> is_held_{false};
};

}  // namespace softdat::base
