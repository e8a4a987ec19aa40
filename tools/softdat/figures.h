// SPDX-License-Identifier: BSD-2-Clause
// What a subcommand has found out, for programs to read.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace softdat::tools {

// Names and values, in the order in which they are told.
using Figures = std::vector<std::pair<std::string, double>>;

// One flat JSON object, a line a figure.
std::string to_json(const Figures& figures);

// The text as a JSON string, with its quotation marks.
std::string json_quoted(std::string_view text);

// Failure when a file of that name could not be written now: told before the measuring. Creates nothing. Empty names
// and
// "-" are no files.
void require_writable(const std::string& name);

// Failure when something of that name is there and is no regular file, such as a FIFO, whose open(2) waits for a
// reader.
void require_regular(const std::string& name);

// Failure when it cannot be written.
void write_file(const std::string& name, const std::string& text);

// What --json means: a file, "-" for standard output, or empty for nowhere.
void write_output(const std::string& name, const std::string& text);

}  // namespace softdat::tools
