// SPDX-License-Identifier: BSD-2-Clause
// Reports of a process to `softdat run`, if that has started it. SOFTDAT_RUN_SOCKET names a Unix stream socket. A
// message is one connection that carries lines; a line is words separated by tabs. The first word is the event, the
// second the process id:
//   open PID NAME ADDRESS                       an IA was opened
//   listen PID NAME QUALIFIER                   a service point of that IA accepts requests
//   socket PID                                  a socket of the program's own listens (tools/softdat/run/preload.c)
//   left PID KIND COUNT PLACE                   at exit: objects that are open, and which call made them
//   transfers PID OPERATIONS BYTES              at exit: what was posted, but for receives
//   connections PID CARRIER COUNT               at exit: how many were established over that carrier, if any
//   broken PID COUNT                            at exit: how many could not be made, or broke, if any
//   said PID SENTENCE                           once: what a person is told of a refused call or a failure (words.h)
#pragma once

#include <string>
#include <string_view>

namespace softdat::base {

// Whether `softdat run` has started this process. The environment is read once. False in a set-user-id program.
bool has_runner();

// Sends lines, each with its newline. Any thread. Never blocks. Errors are ignored: if the runner has gone or its queue
// is full, the lines are lost.
void tell_runner(std::string_view lines);

// The word with its control characters, tabs among them, replaced by blanks.
std::string runner_word(std::string_view word);

// Whether another process of the same command tells the mistakes in the environment, which all of them share
// (SOFTDAT_RUN_TOLD).
bool are_mistakes_told();

}  // namespace softdat::base
