// SPDX-License-Identifier: BSD-2-Clause
// Words as shells read them.
#pragma once

#include <string>

namespace softdat::tools::run {

// One word for sh, whatever it holds.
std::string shell_quoted(const std::string& text);

// One word for csh, where "!" counts in quotes too.
std::string csh_quoted(const std::string& text);

}  // namespace softdat::tools::run
