// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/run/line_writer.h"

#include <fmt/format.h>
#include <limits.h>
#include <poll.h>
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

bool takes_more(int target) {
  pollfd entry{.fd = target, .events = POLLOUT, .revents = 0};
  return ::poll(&entry, 1, 0) != 0;
}

bool is_colored(int descriptor) {
  return ::isatty(descriptor) == 1 && environment_text("NO_COLOR").empty() && environment_text("TERM") != "dumb";
}

LineWriter::LineWriter(int target, LineTurn& turn, const std::string& name, const std::string& color)
    : target_(target),
      turn_(turn),
      prefix_(color.empty() ? fmt::format("[{}] ", name) : fmt::format("\033[{}m[{}]\033[0m ", color, name)) {}

void LineWriter::add(std::string_view text) {
  pending_ += text;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = pending_.find('\n', begin)) != pending_.npos; begin = end + 1) {
    lines_ += prefix_ + pending_.substr(begin, end + 1 - begin);
  }
  pending_.erase(0, begin);
  if (pending_.size() >= kLongestLine) end_line();
  flush();
}

void LineWriter::flush() {
  if (turn_.holder != nullptr && turn_.holder != this) return;
  std::string_view left = lines_;
  while (!left.empty() && takes_more(target_)) {
    // No more at once, or write() may wait. As many whole lines as that is, or a part of one that is longer.
    const std::string_view next = left.substr(0, PIPE_BUF);
    const std::size_t last = next.rfind('\n');
    const std::size_t size = last == next.npos ? next.size() : last + 1;
    write_all(target_, next.substr(0, size));
    left.remove_prefix(size);
    turn_.holder = last == next.npos ? this : nullptr;
  }
  lines_.erase(0, lines_.size() - left.size());
}

void LineWriter::finish() {
  if (turn_.holder != nullptr) turn_.holder->finish_first_line();
  if (!pending_.empty()) end_line();
  write_all(target_, lines_);
  lines_.clear();
}

void LineWriter::finish_first_line() {
  const std::size_t size = lines_.find('\n') + 1;
  write_all(target_, std::string_view(lines_).substr(0, size));
  lines_.erase(0, size);
  turn_.holder = nullptr;
}

void LineWriter::end_line() {
  lines_ += prefix_ + pending_ + '\n';
  pending_.clear();
}

}  // namespace softdat::tools::run
