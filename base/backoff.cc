// SPDX-License-Identifier: BSD-2-Clause
#include "base/backoff.h"

#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace softdat::base {
namespace {

constexpr unsigned kYields = 32;
constexpr long kNapNanoseconds = 50'000;

}  // namespace

void nap() {
  const timespec time{.tv_sec = 0, .tv_nsec = kNapNanoseconds};
  // The C library's function would be a cancellation point.
  ::syscall(SYS_nanosleep, &time, nullptr);
}

void Backoff::wait_longer() const {
  if (rounds_ <= kPauses + kYields) {
    ::sched_yield();
  } else {
    nap();
  }
}

}  // namespace softdat::base
