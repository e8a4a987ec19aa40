// SPDX-License-Identifier: BSD-2-Clause
// The process at one end of a pair, which the tool starts: it is told its job on its standard input and answers on its
// standard output, a line each.
#pragma once

namespace softdat::tools::perf {

// A server says "listening ADDRESS" when a client may come. A client says "ready" before each case, then waits for
// "go".
inline constexpr const char* kListening = "listening";
inline constexpr const char* kReady = "ready";
inline constexpr const char* kGo = "go";

// Returns the exit status.
int run_worker();

}  // namespace softdat::tools::perf
