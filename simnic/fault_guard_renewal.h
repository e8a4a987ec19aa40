// SPDX-License-Identifier: BSD-2-Clause
// FaultGuardRenewal: installs the fault guard anew now and then, because a program may replace the handlers of SIGSEGV
// and SIGBUS at any time.
//
// Threads: one at a time. Errors: none.
#pragma once

#include "base/clock.h"
#include "base/fault_guard.h"

namespace softdat::simnic {

class FaultGuardRenewal {
 public:
  // Before what has arrived is copied to the consumer.
  void renew(base::Time now) {
    if (now < next_) return;
    next_ = now + kInterval;
    base::install_fault_guard();
  }

 private:
  // To look at the handlers costs two system calls.
  static constexpr base::Duration kInterval = std::chrono::milliseconds(1);

  base::Time next_{};
};

}  // namespace softdat::simnic
