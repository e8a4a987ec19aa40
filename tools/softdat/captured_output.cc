// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/captured_output.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <sstream>

namespace softdat::tools {
namespace {

// Gives `place` back to the file that `saved` keeps open.
void restore(int saved, int place) {
  ::dup2(saved, place);
  ::close(saved);
}

// A line of our libraries without the process id, which is that of this command.
std::string without_process(const std::string& line) {
  const std::string begin = "softdat[" + std::to_string(::getpid()) + "]: ";
  return line.starts_with(begin) ? "softdat: " + line.substr(begin.size()) : line;
}

}  // namespace

CapturedOutput::CapturedOutput() {
  std::fflush(nullptr);
  memory_ = ::memfd_create("softdat", MFD_CLOEXEC);
  if (memory_ < 0) return;
  // From 3 on: where a standard descriptor is closed, its number must not be taken for the copy.
  output_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  error_ = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  if (output_ >= 0) ::dup2(memory_, STDOUT_FILENO);
  if (error_ >= 0) ::dup2(memory_, STDERR_FILENO);
}

CapturedOutput::~CapturedOutput() {
  std::fflush(nullptr);
  if (output_ >= 0) restore(output_, STDOUT_FILENO);
  if (error_ >= 0) restore(error_, STDERR_FILENO);
  if (memory_ >= 0) ::close(memory_);
}

std::vector<std::string> CapturedOutput::lines() const {
  std::fflush(nullptr);
  std::string text;
  char chunk[4096];
  // A position of its own: the writers' must not move.
  for (ssize_t got = 0; (got = ::pread(memory_, chunk, sizeof chunk, static_cast<off_t>(text.size()))) > 0;) {
    text.append(chunk, static_cast<std::size_t>(got));
  }
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(without_process(line));
  return lines;
}

}  // namespace softdat::tools
