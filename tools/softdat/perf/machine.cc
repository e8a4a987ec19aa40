// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/perf/machine.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tools/softdat/dat_call.h"

namespace softdat::tools::perf {
namespace {

// The text behind "NAME:" in a file of such lines.
std::string line_value(const char* file, const std::string& name) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (line.rfind(name, 0) != 0 || colon == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

std::vector<int> allowed_processors() {
  cpu_set_t set;
  std::vector<int> allowed;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return {0};
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) allowed.push_back(i);
  }
  return allowed;
}

std::string processor_name() {
  const std::string name = line_value("/proc/cpuinfo", "model name");
  return name.empty() ? "unknown" : name;
}

void pin_to(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0) {
    throw Failure(fmt::format("cannot run on processor {}: {}", processor, std::strerror(errno)));
  }
}

ProcessorUse processor_use() {
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  return {seconds_of(use.ru_utime) + seconds_of(use.ru_stime), static_cast<double>(use.ru_nvcsw + use.ru_nivcsw)};
}

// Not what programs and libraries are read from: the kernel drops and reads such pages as it likes.
double memory_bytes() {
  double sum = 0;
  for (const char* kind : {"Pss_Anon", "Pss_Shmem", "SwapPss"}) {
    const std::string kilobytes = line_value("/proc/self/smaps_rollup", kind);
    if (!kilobytes.empty()) sum += std::stod(kilobytes) * 1024;
  }
  return sum;
}

double open_files() {
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return static_cast<double>(std::distance(begin(files), end(files)));
}

void raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  // Without it, a measurement of many connections says itself what it lacked.
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace softdat::tools::perf
