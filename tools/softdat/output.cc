// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/output.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tools/softdat/dat_call.h"

namespace softdat::tools {
namespace {

void print_line(std::string_view kind, std::string_view text) {
  const std::string line = fmt::format("softdat: {}: {}\n", kind, text);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace

void print_out(std::string_view text) {
  const bool is_written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!is_written) throw Failure(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
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
