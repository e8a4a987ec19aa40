// SPDX-License-Identifier: BSD-2-Clause
// `softdat model`: the networks whose times `softdat run --model` predicts (docs/TIMING.md).
#pragma once

#include <string>

#include "tools/softdat/command_line.h"

namespace softdat::tools::model {

class Command {
 public:
  // Adds the command to `line`, which must live as long.
  explicit Command(CommandLine& line);

  bool is_chosen() const { return options_.is_chosen(); }
  // Returns the exit status. UsageError, Failure.
  int run() const;

 private:
  Subcommand options_;
  std::string action_;
  std::string name_;
};

}  // namespace softdat::tools::model
