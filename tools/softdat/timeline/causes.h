// SPDX-License-Identifier: BSD-2-Clause
// Causes of lost time in a timeline, in words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/softdat/timeline/operations.h"

namespace softdat::tools::timeline {

struct Cause {
  std::string key;         // one word, for scripts
  std::string what;        // what was lost
  std::string remedy;      // the calls to change
  std::uint64_t lost = 0;  // nanoseconds; times at which several threads lost some count once
  double share = 0;        // of the whole, 0 to 1
  std::uint64_t count = 0;
};

// The causes that have lost something, the largest first.
std::vector<Cause> find_causes(const Trace& trace, const Activity& activity);

}  // namespace softdat::tools::timeline
