// SPDX-License-Identifier: BSD-2-Clause
// `softdat top`: what every simulated adapter of this user is doing now.
#pragma once

#include <cstdint>
#include <string>

#include "tools/softdat/command_line.h"

namespace softdat::tools::observe {

class TopCommand {
 public:
  explicit TopCommand(CommandLine& line);
  bool is_chosen() const { return options_.is_chosen(); }
  // Returns the exit status. Failure when there is no terminal, unless --once or --json is given.
  int run() const;

 private:
  void check_process() const;
  void print_once() const;

  Subcommand options_;
  bool is_once_ = false;
  bool is_json_ = false;
  bool is_reversed_ = false;
  std::uint32_t pid_ = 0;
  std::string filter_;
  std::string sort_ = "pid";
  double interval_s_ = 1;
};

}  // namespace softdat::tools::observe
