// SPDX-License-Identifier: BSD-2-Clause
#include "base/spin_lock.h"

#include <sched.h>
#include <time.h>

#include "base/pause.h"
#include "base/uncancelled.h"

namespace softdat::base {
namespace {

constexpr unsigned kPauses = 128;
constexpr unsigned kYields = 32;
constexpr long kNapNanoseconds = 50'000;

// A thread of a real-time class that only yielded would keep a holder of a lower class from running.
void nap() {
  const Uncancelled guard;
  const timespec time{.tv_sec = 0, .tv_nsec = kNapNanoseconds};
  ::nanosleep(&time, nullptr);
}

}  // namespace

void SpinLock::lock_contended() {
  for (unsigned round = 0;; ++round) {
    // The load keeps the cache line shared while the lock is held; only a lock that looks free is exchanged.
    if (!is_held_.load(std::memory_order_relaxed) && try_lock()) return;
    if (round < kPauses) {
      pause_processor();
    } else if (round < kPauses + kYields) {
      ::sched_yield();
    } else {
      nap();
    }
  }
}

}  // namespace softdat::base
