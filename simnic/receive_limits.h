// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "hca/queue_pair.h"

namespace softdat::simnic {

// How many receives a queue pair may have outstanding: more than the soft limit is told once for each
// set(), more than the hard one breaks it.
class ReceiveLimits {
 public:
  // With the baton, and the lock under which receives are posted.
  void set(std::uint32_t soft, std::uint32_t hard) {
    soft_ = soft;
    hard_ = hard;
    alarm_.store(std::min(soft, hard), std::memory_order_relaxed);
  }
  bool is_set() const { return soft_ != hca::kNoRecvLimit || hard_ != hca::kNoRecvLimit; }
  // With the baton alone. True once: the consumer is to be told.
  bool takes_soft(std::uint32_t count) {
    if (count <= soft_) return false;
    // Without the lock: a post that sees the old limit rings in vain.
    set(hca::kNoRecvLimit, hard_);
    return true;
  }
  bool exceeds_hard(std::uint32_t count) const { return count > hard_; }

  // With the lock, after a receive has been posted: whether that one may be too many. `count` is asked only when there
  // is a limit.
  template <typename Count>
  bool is_alarming(Count count) const {
    const std::uint32_t alarm = alarm_.load(std::memory_order_relaxed);
    return alarm != hca::kNoRecvLimit && count() > alarm;
  }

 private:
  std::atomic<std::uint32_t> alarm_{hca::kNoRecvLimit};  // written with the baton
  // Owned by the baton.
  std::uint32_t soft_ = hca::kNoRecvLimit;
  std::uint32_t hard_ = hca::kNoRecvLimit;
};

}  // namespace softdat::simnic
