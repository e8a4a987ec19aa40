// SPDX-License-Identifier: BSD-2-Clause
// What a shell may offer for the next word of a command line. The shells' own scripts (tools/completion) ask softdat
// itself, so that they know no command.
#pragma once

#include <string>
#include <vector>

#include "tools/softdat/command_line.h"

namespace softdat::tools {

// `words` are those after "softdat"; the last, which may be empty, is to be completed. Returns the words that may stand
// there, one a line, or one of:
//   ":files"      a file name
//   ":commands"   a command of the shell
//   ":program N"  a word of another program, whose name is the word at index N
std::string complete(const CLI::App& softdat, const CommandNotes& notes, std::vector<std::string> words);

}  // namespace softdat::tools
