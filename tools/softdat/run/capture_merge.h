// SPDX-License-Identifier: BSD-2-Clause
// Makes one capture of those of several processes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace softdat::tools::run {

struct MergedCapture {
  std::uint64_t packets = 0;
  std::uint64_t dropped = 0;
};

// Writes the packets of all `parts` to `file` (-: standard output), in the order of time. A packet that both sides of a
// connection have captured is written once, as its sender saw it. A connection that begins anew between the same ports
// gets another port. What is damaged at the end of a part, as by a process that was killed, is left out. Parts may
// change meanwhile. Failure, also when the file takes not all.
MergedCapture merge_captures(const std::vector<std::string>& parts, const std::string& file);

}  // namespace softdat::tools::run
