// SPDX-License-Identifier: BSD-2-Clause
// Starts a program as a shell does.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "tools/softdat/dat_call.h"

namespace softdat::tools::run {

// The exit statuses of a shell, softdat(1).
inline constexpr int kExitTimedOut = 124;
inline constexpr int kExitNotExecutable = 126;
inline constexpr int kExitNotFound = 127;
inline constexpr int kExitSignal = 128;

// The program did not begin. `status` is the exit status that tells so.
class StartFailure : public Failure {
 public:
  StartFailure(const std::string& text, int status) : Failure(text), status_(status) {}
  int status() const { return status_; }

 private:
  int status_;
};

// A file that a program starts with as a standard descriptor. Not a base::UniqueFd, which a child of fork() closes. Its
// number is 3 or higher. Not inherited by programs but through StartPlan.
class ProgramDescriptor {
 public:
  // `flags` of open(2). Failure when it cannot be opened.
  ProgramDescriptor(const std::string& path, int flags);
  ~ProgramDescriptor();
  ProgramDescriptor(const ProgramDescriptor&) = delete;
  ProgramDescriptor& operator=(const ProgramDescriptor&) = delete;

  int get() const { return descriptor_; }

 private:
  const int descriptor_;
};

struct StartPlan {
  std::vector<std::string> words;        // the program and its arguments
  std::vector<std::string> environment;  // "NAME=VALUE"
  int input = -1;                        // becomes a standard descriptor; -1: ours
  int output = -1;
  int error = -1;
  std::vector<int> by_default = {};  // signals that this process takes, and that act by default in the program
  bool has_own_group = false;        // leads a process group
  int network = -1;                  // a network namespace to enter; -1: ours
};

// Remembers the signal mask, the dispositions and the limit of descriptors that start() gives to programs, and lets
// this process wait for children where SIGCHLD was ignored. First in main().
void remember_inherited();

// Lets this process have so many descriptors, also if it began with a lower limit. False: its hard limit is lower.
bool allow_descriptors(std::uint64_t count);

// Returns the process id once the program has begun. The program is killed when this process dies. It gets the signal
// mask, dispositions and limit of descriptors that this process began with. StartFailure otherwise.
pid_t start(const StartPlan& plan);

bool is_ignored(int signal);

// Those of the signals that this process does not ignore. A blocked signal is queued even where it is ignored, as
// SIGHUP by nohup(1).
sigset_t not_ignored(std::initializer_list<int> signals);

// Blocks the signals that the caller reads from the descriptor that it returns, a signalfd(2), but for those that are
// ignored. Once in a process.
int block_signals(bool with_terminal_stop);
// When no program is left: forgets what has come to that descriptor, and signals act as before block_signals(), but
// SIGUSR1, SIGUSR2 and SIGWINCH, which were for the programs, do nothing.
void give_back_signals(int signals);

// The exit status that a shell gives to a status of waitpid().
int to_exit_status(int wait_status);

}  // namespace softdat::tools::run
