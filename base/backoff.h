// SPDX-License-Identifier: BSD-2-Clause
// Backoff: how a thread waits for the few instructions of another thread that nobody will announce: first it pauses the
// processor, then it yields, then it naps. A thread of a real-time class that only yielded would keep another one of a
// lower class from running.
//
// One object for each wait, of one thread. No cancellation point.
#pragma once

#include "base/pause.h"

namespace softdat::base {

// Sleeps for 50 us. No cancellation point.
void nap();

class Backoff {
 public:
  void wait() {
    if (++rounds_ <= kPauses)
      pause_processor();
    else
      wait_longer();
  }

 private:
  static constexpr unsigned kPauses = 128;

  void wait_longer() const;

  unsigned rounds_ = 0;
};

}  // namespace softdat::base
