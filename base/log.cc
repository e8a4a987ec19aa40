// SPDX-License-Identifier: BSD-2-Clause
#include "base/log.h"

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <new>
#include <span>
#include <string_view>

#include "base/environment.h"
#include "base/made_once.h"
#include "base/quiet_write.h"
#include "base/uncancelled.h"
#include "base/words.h"

namespace softdat::base {
namespace {

LogLevel read_level() {
  const std::string_view text = environment(Variable::kLog);
  if (text == "error") return LogLevel::kError;
  if (text == "notice") return LogLevel::kNotice;
  if (text == "trace") return LogLevel::kTrace;
  return LogLevel::kWarning;
}

// How long lines wait in all for a reader that has stopped reading.
constexpr int kPatience_ms = 100;

// Standard error did not take a line in time. Stored by any thread that writes; alone, so relaxed.
constinit std::atomic<bool> g_is_stuck{false};

// Whether standard error takes a piece now. A write to a pipe that nobody reads would block for ever.
bool is_ready() {
  pollfd standard_error{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  const int rounds = g_is_stuck.load(std::memory_order_relaxed) ? 0 : kPatience_ms;
  for (int round = 0;; ++round) {
    const int ready = ::poll(&standard_error, 1, round < rounds ? 1 : 0);
    // Where poll() itself is refused, the write decides.
    const bool is_writable = ready > 0 || (ready < 0 && errno != EINTR);
    if (is_writable || round >= rounds) {
      g_is_stuck.store(!is_writable, std::memory_order_relaxed);
      return is_writable;
    }
  }
}

constexpr std::size_t kLongestText = 451;

void print_text(LogLevel level, const char* text) try {
  const bool is_counted = level == LogLevel::kWarning || level == LogLevel::kNotice;
  return is_counted ? say_counted(text) : print_sentence(text);
} catch (const std::bad_alloc&) {
  // Without memory a sentence is not counted; it is still written, from the stack.
  write_text(text);
}

}  // namespace

bool is_logged(LogLevel level) {
  static constinit FoundOnce<LogLevel> limit;
  return level <= limit.get(read_level);
}

void write_line(std::string_view line) {
  const Uncancelled guard;
  // If standard error does not take the line, there is no other place to report it. A pipe that is ready takes
  // PIPE_BUF bytes at once.
  while (!line.empty() && is_ready()) {
    const ssize_t written = quiet_write(STDERR_FILENO, std::as_bytes(std::span(line.substr(0, PIPE_BUF))));
    if (written < 0 && errno != EINTR) return;
    if (written > 0) line.remove_prefix(static_cast<std::size_t>(written));
  }
}

void write_text(const char* text) {
  char line[kLongestText + 32];
  const int length = std::snprintf(line, sizeof line, "softdat[%d]: %.*s\n", static_cast<int>(::getpid()),
                                   static_cast<int>(kLongestText - 1), text);
  write_line({line, static_cast<std::size_t>(length)});
}

void log(LogLevel level, const char* format, ...) {
  if (!is_logged(level)) return;
  char text[kLongestText];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  // Text of peers and files may stand in a message. Its control characters must not reach the terminal.
  for (char* letter = text; *letter != '\0'; ++letter) {
    if (static_cast<unsigned char>(*letter) < 0x20) *letter = ' ';
  }
  print_text(level, text);
}

}  // namespace softdat::base
