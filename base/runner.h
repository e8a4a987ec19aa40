// SPDX-License-Identifier: BSD-2-Clause
// What a process tells `softdat run`, when that has started it. SOFTDAT_RUN_SOCKET then names a Unix stream socket, to
// which each message is a connection of its own: lines of words that tabs separate. The first word is what happened,
// the second the process id:
//   open PID NAME ADDRESS                       an IA was opened
//   listen PID NAME QUALIFIER                   a service point of that IA accepts requests
//   socket PID                                  a socket of the program's own listens (tools/softdat/run/preload.c)
//   left PID KIND COUNT MODULE OFFSET FUNCTION  at exit: objects that are open, and which call made them
//   transfers PID OPERATIONS BYTES              at exit: what was posted, but for receives
#pragma once

#include <string>
#include <string_view>

namespace softdat::base {

// Whether there is somebody to tell. Read once; false in a set-user-id program.
bool has_runner();

// Sends whole lines, each of which ends in a newline. Any thread. Never blocks and never fails: a runner that has gone,
// or takes no more, misses them.
void tell_runner(std::string_view lines);

// The word as it may stand between tabs: control characters become blanks.
std::string runner_word(std::string_view word);

}  // namespace softdat::base
