// SPDX-License-Identifier: BSD-2-Clause
// Two processes on two processors that share some memory: what every floor is measured between.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace softdat::tools::floor {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Processors {
  int here;  // -1: not pinned
  int there;
};

// Memory that a forked process shares with this one, zeroed.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t length);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  template <typename T>
  T& as() const {
    return *static_cast<T*>(address_);
  }

 private:
  void* address_;
  std::size_t length_;
};

// Words of two sides, a cache line each.
template <typename Word>
struct Turns {
  alignas(64) std::atomic<Word> here;
  alignas(64) std::atomic<Word> there;
};

// Runs `there` in a forked process and `here` in this one, each on its processor. Requires that this process has one
// thread. Failure if either fails.
void run_together(const Processors& processors, const std::function<void()>& here, const std::function<void()>& there);

}  // namespace softdat::tools::floor
