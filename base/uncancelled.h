// SPDX-License-Identifier: BSD-2-Clause
// Uncancelled postpones pthread_cancel() of its thread while it lives. Needed around cancellation points of the C
// library that are called with a baton or a lock held, or in a destructor: a thread that died there would never give
// the lock back. The cancellation takes effect at the consumer's next cancellation point.
#pragma once

#include <poll.h>
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

// Makes the thread's cancellation deferred, and returns the type that it had. A cancellation point: the thread may end
// in here.
//
// If the type was asynchronous, another thread may have begun to cancel this one, and its signal may still be on the
// way. The handler of glibc 2.36 heeds the type alone. So the signal would end the thread in the next cancellation
// point of the C library, even in one that Uncancelled guards. The way out of a cancellation point waits for the
// signal.
inline int defer_cancellation() {
  int type = PTHREAD_CANCEL_DEFERRED;
  pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
  if (type == PTHREAD_CANCEL_ASYNCHRONOUS) {
    ::poll(nullptr, 0, 0);
    pthread_testcancel();
  }
  return type;
}

}  // namespace softdat::base
