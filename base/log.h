// SPDX-License-Identifier: BSD-2-Clause
// Messages for the user, on standard error. The function that first knows the cause of a failure logs it, once, with
// the value that is wrong and what to do.
#pragma once

#include <string_view>

namespace softdat::base {

enum class LogLevel { kError = 0, kWarning = 1, kNotice = 2, kTrace = 3 };

// Prints "softdat[PID]: TEXT" if SOFTDAT_LOG allows the level (error, warning, notice or trace; default warning). A
// warning or notice that recurs is counted, as words.h says; an error is printed each time, for it explains an answer.
// `format` is printf's; control characters are printed as blanks, and a text beyond 450 bytes is cut. Any thread, which
// may hold locks of other rooms; each line is one write, so lines of several threads do not mix. Works without memory,
// too: then nothing is counted.
[[gnu::format(printf, 2, 3)]] void log(LogLevel level, const char* format, ...);

// Writes the line to standard error at once, whatever SOFTDAT_LOG says. `line` ends with a line break. A line that
// standard error does not take is lost: the call raises no signal, and lines wait for a reader that has stopped reading
// for 100 ms in all. Any thread; no cancellation point.
void write_line(std::string_view line);

// Writes the line "softdat[PID]: TEXT" in the same way. Never allocates and takes no lock: async-signal-safe. A text
// beyond 450 bytes is cut.
void write_text(const char* text);

// Whether log() would print a message of this level.
bool is_logged(LogLevel level);

}  // namespace softdat::base
