// SPDX-License-Identifier: BSD-2-Clause
// `softdat capture PID` captures a process that runs already; `softdat capture --replay FILE -- PROGRAM` feeds one side
// of a capture to a program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/softdat/capture/live.h"
#include "tools/softdat/capture/replay.h"
#include "tools/softdat/command_line.h"
#include "tools/softdat/run/environment.h"

namespace softdat::tools::capture {

class Command {
 public:
  // Adds the command to `line`, which must live as long.
  explicit Command(CommandLine& line);

  bool is_chosen() const { return options_.is_chosen(); }
  // Returns the exit status. UsageError, Failure.
  int run();

 private:
  int capture_process() const;
  int replay_capture() const;
  void refuse(const std::vector<const char*>& names, const char* with) const;

  Subcommand options_;
  std::string pid_;
  LivePlan live_;
  ReplayPlan replay_;
  run::EnvironmentOptions environment_;
  std::vector<std::string> words_;
};

}  // namespace softdat::tools::capture
