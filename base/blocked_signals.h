// SPDX-License-Identifier: BSD-2-Clause
// BlockedSignals blocks all signals of its thread but SIGSEGV and SIGBUS while it lives, and restores the mask at its
// end.
//
// A thread inherits the mask of the thread that starts it. So a library thread that is started while one lives never
// runs the consumer's signal handlers. SIGSEGV and SIGBUS stay unblocked, because base/fault_guard.h needs them.
#pragma once

#include <csignal>

namespace softdat::base {

class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace softdat::base
