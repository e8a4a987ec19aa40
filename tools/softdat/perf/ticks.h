// SPDX-License-Identifier: BSD-2-Clause
// The clock of single operations: the processor's time stamp where it runs evenly, which costs a few nanoseconds to
// read, else the system's steady clock.
#pragma once

#include <chrono>
#include <cstdint>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace softdat::tools::perf {

class Ticks {
 public:
  // Measures the length of a tick; takes some milliseconds, once a process.
  static const Ticks& instance();

  std::uint64_t now() const {
#if defined(__x86_64__)
    if (uses_stamp_) return __rdtsc();
#endif
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  }
  // Microseconds of one tick.
  double unit_us() const {
    return unit_us_;
  }

 private:
  Ticks();

  bool uses_stamp_ = false;
  double unit_us_ = 1e-3;
};

}  // namespace softdat::tools::perf
