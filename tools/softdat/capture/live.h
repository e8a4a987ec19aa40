// SPDX-License-Identifier: BSD-2-Clause
// The tool's side of a capture of a running process (base/capture_control.h).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace softdat::tools::capture {

struct LivePlan {
  static constexpr std::uint32_t kWhole = 65535;

  pid_t pid = 0;
  std::string file;
  double seconds = 0;  // 0: until something else ends it
  std::uint32_t snap_length = kWhole;
  std::uint32_t buffer_kib = 65536;
};

// Captures until SIGINT or SIGTERM, the time, or the end of the process; then makes the file. Returns the exit status.
// Failure.
int capture_live(const LivePlan& plan);

}  // namespace softdat::tools::capture
