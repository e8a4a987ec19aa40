// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/registry/conf_file.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include "base/unique_fd.h"

namespace softdat::registry {
namespace {

constexpr std::size_t kLargestFile = std::size_t{16} << 20;

// A file that is no dat.conf at all must not bury the terminal.
constexpr std::size_t kMostComplaints = 100;

std::string reason_of(int error) {
  return std::generic_category().message(error);
}

// For how long the writer of a pipe is waited for.
constexpr std::chrono::seconds kPatience(5);

// Waits for more. Returns 0 or the errno that ended it.
int await_input(int fd, std::chrono::steady_clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  if (left.count() <= 0) return ETIMEDOUT;
  pollfd input{.fd = fd, .events = POLLIN, .revents = 0};
  const int ready = ::poll(&input, 1, static_cast<int>(left.count()));
  return ready >= 0 || errno == EINTR ? 0 : errno;
}

// Appends what the descriptor, which does not block, yields; returns 0 or the errno that ended it. A FIFO to which
// nobody writes is at its end at once.
int read_all(int fd, std::string& text) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  std::array<char, 1024> block;  // the opening thread may have a small stack
  for (;;) {
    const ssize_t got = ::read(fd, block.data(), block.size());
    if (got == 0) return 0;
    const int error = got < 0 ? errno : 0;
    if (error == EAGAIN) {
      if (const int reason = await_input(fd, deadline); reason != 0) return reason;
    }
    if (error == EAGAIN || error == EINTR) continue;
    if (error != 0) return error;
    text.append(block.data(), static_cast<std::size_t>(got));
    if (text.size() > kLargestFile) return EFBIG;
  }
}

std::string position(const std::string& name, std::size_t line, std::size_t column) {
  return name + ":" + std::to_string(line) + ":" + std::to_string(column) + ": ";
}

}  // namespace

ConfFile parse_conf_text(std::string_view text, const std::string& name, const ConfComplaint& complain) {
  ConfFile file;
  std::size_t mistakes = 0;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    ConfLine line = parse_conf_line(text.substr(0, end));
    if (auto* entry = std::get_if<ConfEntry>(&line)) file.entries.push_back(std::move(*entry));
    if (const auto* mistake = std::get_if<ConfMistake>(&line); mistake != nullptr && ++mistakes <= kMostComplaints) {
      complain(position(name, number, mistake->column) + mistake->reason + "; line skipped");
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  if (mistakes > kMostComplaints) {
    complain(name + ": " + std::to_string(mistakes - kMostComplaints) + " more malformed lines");
  }
  return file;
}

ConfRead read_conf_file(const std::string& path, ConfFile& file, const ConfComplaint& complain) {
  // The path may name a FIFO or a terminal: it must neither block the program nor become its terminal.
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd && (errno == ENOENT || errno == ENOTDIR)) return ConfRead::kAbsent;
  std::string text;
  const int error = fd ? read_all(fd.get(), text) : errno;
  if (error != 0) {
    complain(path + ": cannot be read: " + reason_of(error));
    return ConfRead::kUnreadable;
  }
  file = parse_conf_text(text, path, complain);
  return ConfRead::kRead;
}

ConfFile find_conf_file(const ConfSearch& search, const ConfComplaint& complain) {
  ConfFile file;
  if (!search.override_path.empty()) {
    if (read_conf_file(search.override_path, file, complain) == ConfRead::kAbsent) {
      complain(search.override_path + ": does not exist, though DAT_OVERRIDE names it");
    }
    return file;
  }
  // The first file that can be read counts. One that is there and cannot be read is told, and passed over.
  for (const std::string& path : search.paths) {
    if (read_conf_file(path, file, complain) == ConfRead::kRead) break;
  }
  return file;
}

}  // namespace softdat::registry
