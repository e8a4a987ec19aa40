// SPDX-License-Identifier: BSD-2-Clause
// What a person at a terminal is told. Whoever first knows a cause says it, once, in words that can
// be acted on.
#pragma once

namespace softdat::base {

enum class LogLevel { kError = 0, kWarning = 1, kNotice = 2, kTrace = 3 };

// Prints "softdat: text" on standard error when SOFTDAT_LOG (error, warning [default], notice,
// trace) allows. Any thread; one write per line, so lines of several threads never mix. printf
// rules.
[[gnu::format(printf, 2, 3)]] void log(LogLevel level, const char* format, ...);

bool is_logged(LogLevel level);

}  // namespace softdat::base
