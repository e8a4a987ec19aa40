// SPDX-License-Identifier: BSD-2-Clause
// While one lives, its thread takes no signals but those of its own faults, and what it starts inherits that: the
// consumer's signals are for the consumer's threads. For the moment in which a thread of ours is started. A thread that
// blocked SIGSEGV or SIGBUS would end the process where base/fault_guard.h promises an error.
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
