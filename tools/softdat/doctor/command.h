// SPDX-License-Identifier: BSD-2-Clause
// `softdat doctor`: what on this machine stops DAT programs, and what to do.
#pragma once

#include <string>

#include "tools/softdat/command_line.h"

namespace softdat::tools::doctor {

class Command {
 public:
  // Adds the command to `line`, which must live as long.
  explicit Command(CommandLine& line);

  bool is_chosen() const { return options_.is_chosen(); }
  // Returns the exit status: failure when something stops programs.
  int run() const;

 private:
  Subcommand options_;
  bool is_json_ = false;
  std::string program_;
};

}  // namespace softdat::tools::doctor
