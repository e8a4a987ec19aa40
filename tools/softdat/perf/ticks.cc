// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/perf/ticks.h"

#if defined(__x86_64__)
#include <cpuid.h>

#include <fstream>
#include <string>
#endif

namespace softdat::tools::perf {
namespace {

#if defined(__x86_64__)
// Whether the kernel takes its own time from it. Virtual processors may have an even stamp and not say so.
bool is_kernels_clock() {
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string name;
  return file >> name && name == "tsc";
}

bool has_even_stamp() {
  constexpr unsigned kPowerLeaf = 0x80000007;
  constexpr unsigned kInvariant = 1u << 8;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return (__get_cpuid(kPowerLeaf, &a, &b, &c, &d) != 0 && (d & kInvariant) != 0) || is_kernels_clock();
}
#else
bool has_even_stamp() {
  return false;
}
#endif

}  // namespace

const Ticks& Ticks::instance() {
  static const Ticks ticks;
  return ticks;
}

// Measures the stamp's unit against the clock for 20 ms, once a process.
Ticks::Ticks() : uses_stamp_(has_even_stamp()) {
  if (!uses_stamp_) return;
  using Clock = std::chrono::steady_clock;
  constexpr auto kSpan = std::chrono::milliseconds(20);
  const auto start = Clock::now();
  const std::uint64_t first = now();
  auto end = start;
  while (end - start < kSpan) end = Clock::now();
  unit_us_ = std::chrono::duration<double, std::micro>(end - start).count() / static_cast<double>(now() - first);
}

}  // namespace softdat::tools::perf
