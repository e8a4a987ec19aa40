// SPDX-License-Identifier: BSD-2-Clause
// The names of a process and its adapter in a capture.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "simnic/capture/stream.h"

namespace softdat::simnic::capture {
namespace {

// The words with which the process was started.
std::string command_line() {
  std::ifstream file("/proc/self/cmdline");
  std::string text(std::istreambuf_iterator<char>(file), {});
  for (char& letter : text) {
    if (static_cast<unsigned char>(letter) < ' ') letter = ' ';
  }
  while (text.ends_with(' ')) text.pop_back();
  return text.substr(0, 1000);
}

std::string description() {
  const char* const copy = std::getenv("SOFTDAT_RUN_COPY");
  const std::string words = command_line();
  return copy == nullptr || *copy == '\0' ? words : std::string(copy) + ": " + words;
}

}  // namespace

Place describe_place(Recorder& recorder, const std::string& adapter, const transport::Address& address) {
  const std::string name =
      std::string(program_invocation_short_name) + '[' + std::to_string(::getpid()) + "] " + adapter;
  return {
      .recorder = recorder, .interface = recorder.add_interface(name, description()), .name = name, .address = address};
}

}  // namespace softdat::simnic::capture
