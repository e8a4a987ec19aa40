// SPDX-License-Identifier: BSD-2-Clause
// A fault plan in TOML. toml++'s headers take seconds to compile, so that one file alone includes them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace softdat::tools::run {

// A statement of a plan (base/fault_plan.h), and the line of the file that says it.
struct PlanStatement {
  std::string text;
  std::size_t line = 0;
};

// The statements that the text of a TOML file says: seed = NUMBER, and [[fault]] tables with `kind` and the fault's
// keys. UsageError names `path`, the line and the word.
std::vector<PlanStatement> read_toml_plan(const std::string& path, const std::string& text);

}  // namespace softdat::tools::run
