// SPDX-License-Identifier: BSD-2-Clause
// `softdat env`: prints the environment of `softdat run` for a shell.
#pragma once

#include "tools/softdat/command_line.h"
#include "tools/softdat/run/environment.h"

namespace softdat::tools::run {

class EnvCommand {
 public:
  // Adds the command to `line`, which must live as long.
  explicit EnvCommand(CommandLine& line);

  bool is_chosen() const { return options_.is_chosen(); }
  // Returns the exit status. UsageError, Failure.
  int run() const;

 private:
  Subcommand options_;
  EnvironmentOptions environment_;
  bool is_sh_ = false;
  bool is_csh_ = false;
  bool is_json_ = false;
};

}  // namespace softdat::tools::run
