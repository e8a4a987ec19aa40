// SPDX-License-Identifier: BSD-2-Clause
// Some programs cancel a thread while it sits in dat_evd_wait, some of them asynchronously. Inside a blocking call
// a thread may only die where no lock is held and every frame can be unwound: in the sleep itself.
#pragma once

#include <pthread.h>

namespace softdat::object {

// Defers asynchronous cancellation of the calling thread for as long as it lives. The entry points
// of dat_evd_wait and dat_cno_wait construct it first, before they pin anything; and none of the
// frames between them and the sleep may be noexcept or swallow everything with catch (...).
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
