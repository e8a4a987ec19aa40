// SPDX-License-Identifier: BSD-2-Clause
// What the machine and the operating system say about themselves and about this process.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace softdat::tools::perf {

// The processors that this process may run on, ascending.
std::vector<int> allowed_processors();
// "AMD EPYC ..." or "unknown".
std::string processor_name();

// Binds this process and the threads that it will start to one processor. Failure if it may not run there.
void pin_to(int processor);

// Processor time that this process has used, and how often it left a processor.
struct ProcessorUse {
  double seconds = 0;
  double context_switches = 0;
};
ProcessorUse processor_use();

// The processor time that other programs use from the construction on.
class OtherPrograms {
 public:
  OtherPrograms();

  // What the user should know when `busy` threads of ours wanted a processor each all the time: that other programs
  // left too few processors, or that the machine has too few. Empty if all had one. Our children must have been waited
  // for.
  std::string disturbance(std::uint32_t busy) const;

 private:
  std::chrono::steady_clock::time_point start_;
  double all_seconds_;
  double own_seconds_;
};

// The memory of the machine, in bytes.
std::uint64_t physical_memory();
// What this process alone holds: its own pages, and its share of those that others map too.
double memory_bytes();
// Open file descriptors.
double open_files();

// As many file descriptors as the system lets this process have: connections may need one each.
void raise_file_limit();

}  // namespace softdat::tools::perf
