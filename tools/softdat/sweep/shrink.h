// SPDX-License-Identifier: BSD-2-Clause
// Makes a plan that lets a program fail as small as it can be.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace softdat::tools::sweep {

using Statements = std::vector<std::string>;

// The statements without which the program no longer fails, each without the keys that it can do without, and with the
// least numbers that were found. `still_fails` runs the program; it is asked some (n log n) times, and holds for
// `statements`.
Statements shrink(Statements statements, const std::function<bool(const Statements&)>& still_fails);

// One a line; for an option, separated by ";".
std::string joined(const Statements& statements);
// The reverse of joined().
Statements split(const std::string& text);

}  // namespace softdat::tools::sweep
