// SPDX-License-Identifier: BSD-2-Clause
#include "base/spin_lock.h"

#include "base/backoff.h"

namespace softdat::base {

void SpinLock::lock_contended() {
  // The load keeps the cache line shared while the lock is held; only a lock that looks free is exchanged.
  for (Backoff backoff; is_held_.load(std::memory_order_relaxed) || !try_lock();) backoff.wait();
}

}  // namespace softdat::base
