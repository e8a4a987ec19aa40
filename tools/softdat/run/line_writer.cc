// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/run/line_writer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "tools/softdat/output.h"

namespace softdat::tools::run {
namespace {

// A line without an end is written in pieces of this size.
constexpr std::size_t kLongestLine = 65536;

std::string environment_text(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void write_all(int target, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(target, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw_write_failure("cannot write the programs' output");
    text.remove_prefix(static_cast<std::size_t>(put));
  }
}

}  // namespace

bool is_colored(int descriptor) {
  return ::isatty(descriptor) == 1 && environment_text("NO_COLOR").empty() && environment_text("TERM") != "dumb";
}

LineWriter::LineWriter(int target, const std::string& name, const std::string& color)
    : target_(target),
      prefix_(color.empty() ? fmt::format("[{}] ", name) : fmt::format("\033[{}m[{}]\033[0m ", color, name)) {}

void LineWriter::add(std::string_view text) {
  pending_ += text;
  std::string lines;
  std::size_t begin = 0;
  // Whole lines by one write(), so that lines of several copies do not mix.
  for (std::size_t end = 0; (end = pending_.find('\n', begin)) != pending_.npos; begin = end + 1) {
    lines += prefix_ + pending_.substr(begin, end + 1 - begin);
  }
  pending_.erase(0, begin);
  write_all(target_, lines);
  if (pending_.size() >= kLongestLine) finish();
}

void LineWriter::finish() {
  if (pending_.empty()) return;
  write_all(target_, prefix_ + pending_ + '\n');
  pending_.clear();
}

}  // namespace softdat::tools::run
