// SPDX-License-Identifier: BSD-2-Clause
// CancellationShield: lets a program cancel a thread in dat_evd_wait or dat_cno_wait, also asynchronously. The thread
// may end only in the sleep itself, where it holds no lock and every frame can be unwound.
#pragma once

#include <pthread.h>

namespace softdat::object {

// Makes the cancellation of the calling thread deferred while it lives. REQUIRES: the entry points of dat_evd_wait and
// dat_cno_wait construct it before they pin anything. No frame between them and the sleep may be noexcept, or have a
// catch (...) that does not throw again.
class CancellationShield {
 public:
  CancellationShield() { pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &old_type_); }
  ~CancellationShield() { pthread_setcanceltype(old_type_, nullptr); }
  CancellationShield(const CancellationShield&) = delete;
  CancellationShield& operator=(const CancellationShield&) = delete;

 private:
  int old_type_ = PTHREAD_CANCEL_DEFERRED;
};

}  // namespace softdat::object
