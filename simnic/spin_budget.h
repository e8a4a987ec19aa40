// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>

#include "base/clock.h"

namespace softdat::simnic {

// How long a thread looks around before it sleeps: learnt from how long recent waits took. Any
// thread; a lost update costs nothing.
class SpinBudget {
 public:
  static constexpr base::Duration kMost = std::chrono::microseconds(50);

  base::Duration get() const { return base::Duration(budget_.load(std::memory_order_relaxed)); }

  // After a wait: one that a spin would have caught earns the full budget, any other halves it.
  void learn(base::Duration waited) {
    const base::Duration next = waited <= 2 * kMost ? kMost : get() / 2;
    budget_.store(next.count(), std::memory_order_relaxed);
  }

 private:
  std::atomic<base::Duration::rep> budget_{kMost.count()};
};

}  // namespace softdat::simnic
