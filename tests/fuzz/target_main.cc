// SPDX-License-Identifier: BSD-2-Clause
// The entries that libFuzzer calls, and the count of what a run did. The last line on standard output is
// "counted: N inputs" or "counted: N inputs, M UNITS": tests/fuzz/run adds these up.
#include <fcntl.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

namespace softdat::fuzz {

__attribute__((weak)) void prepare() {}
__attribute__((weak)) void finish() {}

namespace {

// One thread makes the inputs; the others of a target only act on its word.
struct Tally {
  std::uint64_t inputs = 0;
  std::uint64_t units = 0;
  const char* unit_name = nullptr;
  int output = -1;  // libFuzzer may close standard output
};
Tally tally;

void print_tally() {
  finish();
  char line[128];
  int length = std::snprintf(line, sizeof line, "counted: %llu inputs", static_cast<unsigned long long>(tally.inputs));
  if (tally.unit_name != nullptr) {
    length += std::snprintf(line + length, sizeof line - static_cast<std::size_t>(length), ", %llu %s",
                            static_cast<unsigned long long>(tally.units), tally.unit_name);
  }
  line[length++] = '\n';
  static_cast<void>(!::write(tally.output, line, static_cast<std::size_t>(length)));
}

}  // namespace

void count_units(const char* name, std::uint64_t count) {
  tally.unit_name = name;
  tally.units += count;
}

}  // namespace softdat::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  using namespace softdat::fuzz;
  tally.output = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  prepare();
  return std::atexit(print_tally);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ++softdat::fuzz::tally.inputs;
  softdat::fuzz::run_input(std::as_bytes(std::span(data, size)));
  return 0;
}
