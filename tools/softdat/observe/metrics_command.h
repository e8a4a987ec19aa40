// SPDX-License-Identifier: BSD-2-Clause
// `softdat metrics`: the counters of this user's processes for Prometheus.
#pragma once

#include <string>

#include "tools/softdat/command_line.h"

namespace softdat::tools::observe {

class MetricsCommand {
 public:
  explicit MetricsCommand(CommandLine& line);
  bool is_chosen() const { return options_.is_chosen(); }
  // Prints once, or serves until a signal. Returns the exit status.
  int run() const;

 private:
  Subcommand options_;
  std::string listen_;
  bool has_no_endpoints_ = false;
};

}  // namespace softdat::tools::observe
