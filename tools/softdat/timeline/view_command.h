// SPDX-License-Identifier: BSD-2-Clause
// `softdat view`: a timeline as one HTML page.
#pragma once

#include <string>

#include "tools/softdat/command_line.h"

namespace softdat::tools::timeline {

class ViewCommand {
 public:
  explicit ViewCommand(CommandLine& line);
  bool is_chosen() const { return options_.is_chosen(); }
  // Returns the exit status. UsageError, Failure.
  int run() const;

 private:
  void write_page(const std::string& output) const;

  Subcommand options_;
  std::string file_;
  std::string output_;
};

}  // namespace softdat::tools::timeline
