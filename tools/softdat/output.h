// SPDX-License-Identifier: BSD-2-Clause
// Standard output and standard error of the tool, in one form.
#pragma once

#include <string_view>

#include "tools/softdat/dat_call.h"

namespace softdat::tools {

// The exit statuses of softdat, softdat(1).
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;

// The reader of our output has gone, as `head` goes when it has read enough. Nobody is left to be told.
class OutputClosed : public Failure {
 public:
  using Failure::Failure;
};

// Throws OutputClosed if errno is EPIPE, else Failure: "WHAT: " and the text of errno.
[[noreturn]] void throw_write_failure(std::string_view what);

// Writes the text to standard output at once. Failure when it cannot be written, as on a full disk.
void print_out(std::string_view text);

// Ends the process by SIGPIPE, as any program ends whose reader has gone. Says nothing.
[[noreturn]] void die_of_closed_output();

// "softdat: TEXT" on standard error: what happened, and is no error.
void print_note(std::string_view text);

// "softdat: error: TEXT" and "softdat: warning: TEXT" on standard error.
void print_error(std::string_view text);
void print_warning(std::string_view text);

}  // namespace softdat::tools
