// SPDX-License-Identifier: BSD-2-Clause
// BriefLock: a mutex for sections that many calls pass through, few contend for, and that are a few instructions as a
// rule (a post that copies its bytes to a peer itself takes longer). Taking and giving it back are inline; whoever
// finds it taken sleeps. Works with std::lock_guard and its like.
//
// Who writes what: `word_` is 0 (free), 1 (held) or 2 (held, and somebody may sleep). Holders take it by a
// read-modify-write that acquires and give it back by one that releases; who sleeps writes 2 first, and so keeps
// writing when it wakes, because others may sleep on.
#pragma once

#include <atomic>
#include <cstdint>

namespace softdat::base {

class BriefLock {
 public:
  BriefLock() = default;
  BriefLock(const BriefLock&) = delete;
  BriefLock& operator=(const BriefLock&) = delete;

  void lock() {
    if (!try_lock()) [[unlikely]]
      lock_contended();
  }
  bool try_lock() {
    std::uint32_t free = 0;
    return word_.compare_exchange_strong(free, 1, std::memory_order_acquire, std::memory_order_relaxed);
  }
  void unlock() {
    if (word_.exchange(0, std::memory_order_release) == 2) [[unlikely]]
      wake_one();
  }

 private:
  [[gnu::noinline]] void lock_contended() {
    while (word_.exchange(2, std::memory_order_acquire) != 0) word_.wait(2, std::memory_order_relaxed);
  }
  [[gnu::noinline]] void wake_one() { word_.notify_one(); }

  std::atomic<std::uint32_t> word_{0};
};

}  // namespace softdat::base
