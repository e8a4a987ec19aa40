// SPDX-License-Identifier: BSD-2-Clause
// Baton: the right to touch a NIC's protocol state. A lock that the passer-by may leave alone, and
// that gives way to those who insist. A holder that somebody wants to cancel ends after it has left,
// so what is called with the baton in hand may go to the kernel freely.
//
// Who writes what: held_ is exchanged to true by the taker and stored false by the holder; wanted_
// counts threads inside take(). Everything is sequentially consistent, which docs/decisions/0003
// builds on: whoever fails in try_take() can rely on some holder to look at the doorbells after he
// rang.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "base/event_count.h"

namespace softdat::simnic {

class Baton {
 public:
  // Never waits. Also false while a thread insists in take(), so that a polling loop cannot starve
  // it.
  bool try_take() {
    if (!try_take_briefly()) return false;
    stay();
    return true;
  }

  // The same for a section so brief that it calls no cancellation point (nor is safe for a thread that may be cancelled
  // anywhere, as little as the rest of a poll is). Then stay() makes one like the others of it, or leave_briefly() ends
  // it.
  bool try_take_briefly() {
    const bool is_free = wanted_.load(std::memory_order_seq_cst) == 0 && !held_.load(std::memory_order_seq_cst);
    return is_free && !held_.exchange(true, std::memory_order_seq_cst);
  }
  void stay() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_); }
  void leave_briefly() {
    held_.store(false, std::memory_order_seq_cst);
    released_.notify();
  }

  // Waits for it. Not from within a section that holds it.
  void take();

  void leave() {
    const int cancel_state = cancel_state_;
    leave_briefly();
    pthread_setcancelstate(cancel_state, nullptr);
  }

  bool is_held() const { return held_.load(std::memory_order_seq_cst); }

 private:
  int cancel_state_ = PTHREAD_CANCEL_ENABLE;  // the holder's own, owned by the holder
  std::atomic<bool> held_{false};
  std::atomic<std::uint32_t> wanted_{0};
  base::EventCount released_;
};

}  // namespace softdat::simnic
