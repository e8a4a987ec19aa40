// SPDX-License-Identifier: BSD-2-Clause
#include "base/brief_lock.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace softdat::base {

// std::atomic::wait() of libstdc++ 12 would not do, because its futex is not private (see futex_wait in
// event_count.cc). A wait may end without cause, or fail because the word has changed: both mean another look.
void BriefLock::lock_contended() {
  const int error = errno;
  while (word_.exchange(2, std::memory_order_acquire) != 0)
    ::syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, 2, nullptr, nullptr, 0);
  errno = error;
}

// By now another thread may have freed the lock: only its address is used.
void BriefLock::wake_one() {
  const int error = errno;
  ::syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  errno = error;
}

}  // namespace softdat::base
