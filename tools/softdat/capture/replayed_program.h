// SPDX-License-Identifier: BSD-2-Clause
// The program that a capture is replayed to, with all that it starts.
#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

#include "tools/softdat/capture/replay.h"

namespace softdat::tools::capture {

// One in a process. One thread. All that the program has started is killed at its end, and the program itself with
// this process. Children that this process had before, as those of a shell that became softdat by exec, go on.
class ReplayedProgram {
 public:
  // Failure, run::StartFailure.
  explicit ReplayedProgram(const ReplayPlan& plan);
  ~ReplayedProgram();
  ReplayedProgram(const ReplayedProgram&) = delete;
  ReplayedProgram& operator=(const ReplayedProgram&) = delete;

  // Reaps the program once; later calls answer from memory.
  bool has_ended();
  // After has_ended().
  int status() const { return *status_; }
  void stop() const;
  bool await_end(double seconds);
  // What it has started and left, as a shell would, goes on.
  void let_go() { is_let_go_ = true; }

 private:
  std::vector<pid_t> earlier_children_;
  pid_t pid_ = -1;
  std::optional<int> status_;
  bool is_let_go_ = false;
};

}  // namespace softdat::tools::capture
