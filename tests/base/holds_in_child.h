// SPDX-License-Identifier: BSD-2-Clause
// Claims about a process that has one thread.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace softdat::base::testing {

// Whether `claim` holds in a child of fork(). Tools that watch this process may have threads of their own in it; a
// child begins with one in any case.
inline bool holds_in_child(const std::function<bool()>& claim) {
  const ::pid_t child = ::fork();
  if (child == 0) ::_exit(claim() ? 0 : 1);
  int status = -1;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace softdat::base::testing
