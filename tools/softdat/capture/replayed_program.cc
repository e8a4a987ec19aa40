// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/capture/replayed_program.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>

#include "tools/softdat/run/environment.h"
#include "tools/softdat/run/process.h"

namespace softdat::tools::capture {
namespace {

// The children of all threads of this process; empty where the kernel does not list them (CONFIG_PROC_CHILDREN).
std::vector<pid_t> children_of_this() {
  std::vector<pid_t> children;
  std::error_code none;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", none)) {
    std::ifstream file(thread.path() / "children");
    for (pid_t child = 0; file >> child;) children.push_back(child);
  }
  return children;
}

// Each child that ends may leave others. One that may not be killed, as a program of root, goes on.
void kill_children(const std::vector<pid_t>& spared) {
  for (bool has_killed = true; has_killed;) {
    has_killed = false;
    for (const pid_t child : children_of_this()) {
      const bool is_spared = std::find(spared.begin(), spared.end(), child) != spared.end();
      if (is_spared || ::kill(child, SIGKILL) != 0) continue;
      ::waitpid(child, nullptr, 0);
      has_killed = true;
    }
  }
}

}  // namespace

// What a process leaves at its end becomes our child, so that it can be found. A process group of the program's own
// would not do: the keys of the terminal would not reach it.
ReplayedProgram::ReplayedProgram(const ReplayPlan& plan) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  // None of them is reaped here, so no process of the program's gets the number of one.
  earlier_children_ = children_of_this();
  const run::Environment environment = run::make_environment(plan.environment);
  pid_ = run::start({.words = plan.words, .environment = environment.merged()});
}

ReplayedProgram::~ReplayedProgram() {
  if (is_let_go_) return;
  if (!has_ended()) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  kill_children(earlier_children_);
}

bool ReplayedProgram::has_ended() {
  int status = 0;
  if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) status_ = run::to_exit_status(status);
  return status_.has_value();
}

void ReplayedProgram::stop() const {
  ::kill(pid_, SIGTERM);
}

bool ReplayedProgram::await_end(double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (!has_ended()) {
    if (Clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

}  // namespace softdat::tools::capture
