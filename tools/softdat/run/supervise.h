// SPDX-License-Identifier: BSD-2-Clause
// For commands that start programs with start(), look at them from outside, and end them with all that they started.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <exception>
#include <vector>

namespace softdat::tools::run {

// The user has ended the command, and with it the programs.
class Interrupted : public std::exception {};

enum class End { kEnded, kTimeout, kInterrupted };

// Waits until the process has ended, for that time at most. kInterrupted when `stop`, a descriptor, can be read first;
// -1: none. Failure when it cannot be watched.
End await_end(pid_t process, std::chrono::steady_clock::duration time, int stop);

// All that it started, and what these started.
std::vector<pid_t> descendants_of(pid_t process);

// SIGTERM; if it does not end then in a few seconds, SIGKILL for all that it started, and for it. Leaves it to be
// reaped.
void stop(pid_t process);

// Waits, and returns its exit status, as a shell gives it. What it has left running in its group is killed; the process
// must lead one (StartPlan::has_own_group).
int reap(pid_t process);

}  // namespace softdat::tools::run
