// SPDX-License-Identifier: BSD-2-Clause
// The process that is to be captured, as /proc knows it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/capture_control.h"
#include "base/socket_directory.h"
#include "base/unique_fd.h"

namespace softdat::tools::capture {

struct Target {
  pid_t pid = 0;
  base::CaptureTarget own{};  // as it counts itself
  base::SocketUser user{};
  std::string program{};
  bool has_softdat = false;

  // "process PID (PROGRAM)".
  std::string name() const;
};

// Failure when there is no such process, or it is another user's.
Target find_target(pid_t pid);

// The socket file of its first adapter (base/capture_control.h). Failure, in words, when the process listens at none.
base::UniqueFd connect_to(const Target& target);

}  // namespace softdat::tools::capture
