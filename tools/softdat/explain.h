// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

namespace softdat::tools {

// Prints what a code may mean: a DAT_RETURN, an event or a completion status, with causes, remedy and manual page.
// `code` is decimal, begins with 0x, or is a name of the headers, with or without DAT_, in any case. Returns the exit
// status. UsageError when it is none of these, Failure when the number means nothing.
int run_explain(const std::string& code);

}  // namespace softdat::tools
