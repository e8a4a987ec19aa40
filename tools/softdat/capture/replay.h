// SPDX-License-Identifier: BSD-2-Clause
// `softdat capture --replay`: plays one side of a recorded connection to a program that takes the other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/softdat/run/environment.h"

namespace softdat::tools::capture {

struct ReplayPlan {
  std::string file;
  std::uint32_t connection = 1;
  std::string side = "b";     // ours
  std::uint64_t service = 0;  // 0: the recorded one
  double patience_s = 30;
  std::vector<std::string> words;
  run::EnvironmentOptions environment;
};

// Returns 0 when the program did what was recorded, 1 after it has told the first difference. Failure, UsageError.
int replay(const ReplayPlan& plan);

}  // namespace softdat::tools::capture
