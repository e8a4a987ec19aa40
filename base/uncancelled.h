// SPDX-License-Identifier: BSD-2-Clause
// Uncancelled postpones pthread_cancel() of its thread while it lives. Needed around cancellation points of the C
// library that are called with a baton or a lock held, or in a destructor: a thread that died there would never give
// the lock back. The cancellation takes effect at the consumer's next cancellation point.
#pragma once

#include <pthread.h>

namespace softdat::base {

// What a thread has postponed its cancellation for, and its own state, which comes back with the end of the last of
// these.
struct PostponedCancellation {
  unsigned count = 0;
  int own_state = PTHREAD_CANCEL_ENABLE;
};
[[gnu::tls_model("initial-exec")]] inline constinit thread_local PostponedCancellation t_postponed{};

// Each postpone_cancellation() is ended by one resume_cancellation() of the same thread, in any order.
inline void postpone_cancellation() {
  if (t_postponed.count++ == 0) pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &t_postponed.own_state);
}
inline void resume_cancellation() {
  if (--t_postponed.count == 0) pthread_setcancelstate(t_postponed.own_state, nullptr);
}

class Uncancelled {
 public:
  Uncancelled() { postpone_cancellation(); }
  ~Uncancelled() { resume_cancellation(); }
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;
};

}  // namespace softdat::base
