// SPDX-License-Identifier: BSD-2-Clause
// Baton: the right to touch a NIC's protocol state. A lock that the passer-by may leave alone, and
// that gives way to those who insist. A holder that stays ends after it has left if somebody cancels it, so it may go
// to the kernel freely.
//
// Who writes what: held_ is exchanged to true by the taker and stored false by the holder; wanted_
// counts threads inside take(). Everything is sequentially consistent, which docs/decisions/0003
// builds on: whoever fails in try_take() can rely on some holder to look at the doorbells after he
// rang.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/event_count.h"
#include "base/uncancelled.h"

namespace softdat::simnic {

class Baton {
 public:
  // Never waits. Also false while a thread insists in take(), so that a polling loop cannot starve it. The holder may
  // still be cancelled at a cancellation point: stay() before the first.
  bool try_take() {
    const bool is_free = wanted_.load(std::memory_order_seq_cst) == 0 && !held_.load(std::memory_order_seq_cst);
    return is_free && !held_.exchange(true, std::memory_order_seq_cst);
  }

  // Waits for it, and stays. Not from within a section that holds it.
  void take();

  // By the holder: it is not cancelled until it leaves. May be repeated.
  void stay() {
    if (has_stayed_) return;
    base::postpone_cancellation();
    has_stayed_ = true;
  }

  void leave() {
    if (has_stayed_) return leave_after_stay();
    give_away();
  }

  bool is_held() const { return held_.load(std::memory_order_seq_cst); }

 private:
  void leave_after_stay();
  void give_away() {
    held_.store(false, std::memory_order_seq_cst);
    released_.notify();
  }

  // Owned by the holder.
  bool has_stayed_ = false;
  std::atomic<bool> held_{false};
  std::atomic<std::uint32_t> wanted_{0};
  base::EventCount released_;
};

}  // namespace softdat::simnic
