// SPDX-License-Identifier: BSD-2-Clause
// EndSignals: the signals that end a command which runs programs, read in order instead of taken.
#pragma once

#include "base/unique_fd.h"

namespace softdat::tools::run {

// Blocks SIGINT, SIGTERM, SIGHUP and SIGQUIT, but for those that are ignored, as by nohup(1). Programs that start()
// begins have them as before. Once in a process, before it has other threads.
class EndSignals {
 public:
  // Failure when signals cannot be read.
  EndSignals();

  // Can be read once such a signal has come.
  int descriptor() const { return descriptor_.get(); }
  // After that: the exit status of a shell after the signal. Takes the signal.
  int exit_status() const;

 private:
  base::UniqueFd descriptor_;
};

}  // namespace softdat::tools::run
