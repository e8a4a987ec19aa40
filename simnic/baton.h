// SPDX-License-Identifier: BSD-2-Clause
// Baton: the right to touch a NIC's protocol state. A lock with two ways in: try_take() never waits, take() does. While
// a thread waits in take(), every try_take() fails. After stay(), a cancellation of the holder is postponed until it
// leaves, so the holder may make system calls that are cancellation points.
//
// The taker exchanges held_ to true, and the holder stores false. wanted_ counts the threads inside take(). All
// accesses are sequentially consistent: if try_take() fails after a thread has rung, some holder will look at the
// doorbells after that ring. docs/decisions/0003-the-baton.md has the proof.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/event_count.h"
#include "base/uncancelled.h"
#include "simnic/lock_places.h"

namespace softdat::simnic {

class Baton {
 public:
  // Never waits. Also false while a thread waits in take(), so that a polling loop cannot starve it. The holder may
  // still be cancelled at a cancellation point: it must call stay() before the first.
  bool try_take() {
    const bool is_free = wanted_.load(std::memory_order_seq_cst) == 0 && !held_.load(std::memory_order_seq_cst);
    const bool is_taken = is_free && !held_.exchange(true, std::memory_order_seq_cst);
    if (is_taken) base::note_lock_taken(locks::kBaton);
    return is_taken;
  }

  // Waits for the baton, then acts as stay(). REQUIRES: the thread does not hold the baton.
  void take();

  // By the holder: postpones its cancellation until it leaves. May be repeated.
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
    base::note_lock_given_back(locks::kBaton);
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
