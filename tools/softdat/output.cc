// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/output.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tools/softdat/child.h"

namespace softdat::tools {
namespace {

void print_line(std::string_view kind, std::string_view text) {
  const std::string line = fmt::format("softdat: {}: {}\n", kind, text);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace

void throw_write_failure(std::string_view what) {
  const int error = errno;
  const std::string text = fmt::format("{}: {}", what, std::strerror(error));
  if (error == EPIPE) {
    Child::stop_all();  // they end as the stack unwinds
    throw OutputClosed(text);
  }
  throw Failure(text);
}

void print_out(std::string_view text) {
  const bool is_written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!is_written) throw_write_failure("cannot write to standard output");
}

// Commands that stop programs in order ignore SIGPIPE, and a parent may have left it ignored or blocked.
void die_of_closed_output() {
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  ::sigprocmask(SIG_UNBLOCK, &pipe, nullptr);
  ::raise(SIGPIPE);
  ::_exit(128 + SIGPIPE);
}

void print_note(std::string_view text) {
  const std::string line = fmt::format("softdat: {}\n", text);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void print_error(std::string_view text) {
  print_line("error", text);
}

void print_warning(std::string_view text) {
  print_line("warning", text);
}

}  // namespace softdat::tools
