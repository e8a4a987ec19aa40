// SPDX-License-Identifier: BSD-2-Clause
#include "tests/bench/parked_threads.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>

namespace softdat::bench {
namespace {

constexpr time_t kLongestRest = 10;  // s; whoever waits for more waits for an event

std::atomic<bool> is_parking{false};
std::atomic<int> parked{0};

bool is_rest(long number, const long (&arguments)[6]) {
  const bool is_wait =
      number == SYS_futex && (arguments[1] & ~FUTEX_PRIVATE_FLAG) == FUTEX_WAIT_BITSET && arguments[3] != 0;
  if (!is_wait || ::getpid() == ::gettid()) return false;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return reinterpret_cast<const timespec*>(arguments[3])->tv_sec - now.tv_sec < kLongestRest;
}

long park() {
  parked.fetch_add(1);
  parked.notify_all();
  is_parking.wait(true);
  parked.fetch_sub(1);
  errno = ETIMEDOUT;
  return -1;
}

}  // namespace

void park_threads(void (*poll)(void*), void* argument) {
  is_parking.store(true);
  while (parked.load() == 0) poll(argument);
}

void release_threads() {
  is_parking.store(false);
  is_parking.notify_all();
}

}  // namespace softdat::bench

extern "C" __attribute__((visibility("default"))) long syscall(long number, ...) noexcept {
  using Call = long (*)(long, ...);
  static const auto next = reinterpret_cast<Call>(::dlsym(RTLD_NEXT, "syscall"));
  long arguments[6];
  va_list list;
  va_start(list, number);
  for (long& argument : arguments) argument = va_arg(list, long);
  va_end(list);
  using namespace softdat::bench;
  if (is_parking.load() && is_rest(number, arguments)) return park();
  return next(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
}
