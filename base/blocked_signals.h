// SPDX-License-Identifier: BSD-2-Clause
// While one lives, its thread takes no signals, and what it starts inherits that: the consumer's signals are for the
// consumer's threads. For the moment in which a thread of ours is started.
#pragma once

#include <csignal>

namespace softdat::base {

class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace softdat::base
