// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/run/end_signals.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tools/softdat/run/process.h"

namespace softdat::tools::run {

EndSignals::EndSignals() {
  // Blocks them for this process. Its own descriptor, which reads more signals, is not needed.
  const base::UniqueFd others(block_signals(false));
  const sigset_t signals = not_ignored({SIGINT, SIGTERM, SIGHUP, SIGQUIT});
  descriptor_ = base::UniqueFd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!descriptor_) throw Failure(fmt::format("cannot read signals: {}", std::strerror(errno)));
}

int EndSignals::exit_status() const {
  signalfd_siginfo info = {};
  static_cast<void>(!::read(descriptor_.get(), &info, sizeof info));
  return kExitSignal + static_cast<int>(info.ssi_signo);
}

}  // namespace softdat::tools::run
