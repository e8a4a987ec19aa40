// SPDX-License-Identifier: BSD-2-Clause
#include "base/backoff.h"

#include <sched.h>
#include <time.h>

#include "base/uncancelled.h"

namespace softdat::base {
namespace {

constexpr unsigned kYields = 32;
constexpr long kNapNanoseconds = 50'000;

}  // namespace

void Backoff::wait_longer() const {
  if (rounds_ <= kPauses + kYields) {
    ::sched_yield();
    return;
  }
  const Uncancelled guard;
  const timespec time{.tv_sec = 0, .tv_nsec = kNapNanoseconds};
  ::nanosleep(&time, nullptr);
}

}  // namespace softdat::base
