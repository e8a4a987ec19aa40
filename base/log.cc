// SPDX-License-Identifier: BSD-2-Clause
#include "base/log.h"

#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <string_view>

#include "base/environment.h"
#include "base/uncancelled.h"

namespace softdat::base {
namespace {

LogLevel read_level() {
  const std::string_view text = environment(Variable::kLog);
  if (text == "error") return LogLevel::kError;
  if (text == "notice") return LogLevel::kNotice;
  if (text == "trace") return LogLevel::kTrace;
  return LogLevel::kWarning;
}

}  // namespace

bool is_logged(LogLevel level) {
  static const LogLevel limit = read_level();
  return level <= limit;
}

void write_line(std::string_view line) {
  const Uncancelled guard;
  // If standard error does not take the line, there is no other place to report it.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

void log(LogLevel level, const char* format, ...) {
  if (!is_logged(level)) return;
  char line[512] = "softdat: ";
  constexpr int kPrefix = 9;
  va_list arguments;
  va_start(arguments, format);
  int length = kPrefix + std::vsnprintf(line + kPrefix, sizeof line - kPrefix - 1, format, arguments);
  va_end(arguments);
  if (length > static_cast<int>(sizeof line) - 2) length = static_cast<int>(sizeof line) - 2;
  line[length++] = '\n';
  write_line({line, static_cast<std::size_t>(length)});
}

}  // namespace softdat::base
