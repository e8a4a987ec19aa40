// SPDX-License-Identifier: BSD-2-Clause
// Standard output and standard error of the tool, in one form.
#pragma once

#include <string_view>

namespace softdat::tools {

// The exit statuses of softdat, softdat(1).
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;

// Writes the text to standard output at once. Failure when it cannot be written, as on a full disk.
void print_out(std::string_view text);

// "softdat: TEXT" on standard error: what happened, and is no error.
void print_note(std::string_view text);

// "softdat: error: TEXT" and "softdat: warning: TEXT" on standard error.
void print_error(std::string_view text);
void print_warning(std::string_view text);

}  // namespace softdat::tools
