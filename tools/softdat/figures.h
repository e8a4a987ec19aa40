// SPDX-License-Identifier: BSD-2-Clause
// What a subcommand has found out, for programs to read.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace softdat::tools {

// Names and values, in the order in which they are told.
using Figures = std::vector<std::pair<std::string, double>>;

// One flat JSON object, a line a figure.
std::string to_json(const Figures& figures);

// Failure when it cannot be written.
void write_file(const std::string& name, const std::string& text);

// What --json means: a file, "-" for standard output, or empty for nowhere.
void write_output(const std::string& name, const std::string& text);

}  // namespace softdat::tools
