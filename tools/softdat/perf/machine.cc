// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/perf/machine.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

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

// Processor time of the whole machine since its start, without interrupts; 0 where the system does not tell.
double machine_seconds() {
  std::ifstream file("/proc/stat");
  std::string cpu;
  double user = 0;
  double nice = 0;
  double system = 0;
  file >> cpu >> user >> nice >> system;
  return (user + nice + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double seconds_with_children() {
  double sum = 0;
  for (const int processes : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage use{};
    ::getrusage(processes, &use);
    sum += seconds_of(use.ru_utime) + seconds_of(use.ru_stime);
  }
  return sum;
}

}  // namespace

OtherPrograms::OtherPrograms()
    : start_(std::chrono::steady_clock::now()),
      all_seconds_(machine_seconds()),
      own_seconds_(seconds_with_children()) {}

// Fewer processors than busy threads, or other programs' processor time, make latencies worthless.
std::string OtherPrograms::disturbance(std::uint32_t busy) const {
  constexpr double kTolerated = 0.25;  // processors
  const auto processors = static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  if (processors < busy) {
    return fmt::format("{} busy threads shared {:.0f} processor{}: latencies include waiting for one", busy, processors,
                       processors > 1 ? "s" : "");
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  const double own = seconds_with_children() - own_seconds_;
  const double others = (machine_seconds() - all_seconds_ - own) / elapsed.count();
  if (others + busy <= processors + kTolerated) return "";
  return fmt::format(
      "the machine is busy: other programs used {:.1f} of {:.0f} processors meanwhile; measure again on a quiet one",
      others, processors);
}

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

std::uint64_t physical_memory() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// Not what programs and libraries are read from: the kernel drops and reads such pages as it likes.
// Proportional shares (Pss), so memory that both processes map counts half in each.
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
