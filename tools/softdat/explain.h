// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

namespace softdat::tools {

// Prints what a number may mean: a DAT_RETURN, an event or a completion status. `code` is decimal or begins with 0x.
// Returns the exit status. UsageError when it is not such a number, Failure when it means nothing.
int run_explain(const std::string& code);

}  // namespace softdat::tools
