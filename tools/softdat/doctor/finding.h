// SPDX-License-Identifier: BSD-2-Clause
// What `softdat doctor` finds out: one fact, how bad it is, and what to do.
#pragma once

#include <string>
#include <vector>

namespace softdat::tools::doctor {

enum class Level {
  kOk,       // as it should be
  kNote,     // worth knowing
  kWarning,  // some programs, or some settings, do not work
  kProblem,  // programs do not work
};

struct Finding {
  Level level = Level::kOk;
  std::string topic;   // one or two words
  std::string fact;    // what is so
  std::string advice;  // what it means and what to do; empty for kOk
};

using Findings = std::vector<Finding>;

const char* to_text(Level level);

}  // namespace softdat::tools::doctor
