// SPDX-License-Identifier: BSD-2-Clause
// Uncancelled postpones pthread_cancel() of its thread while it lives. Needed around cancellation points of the C
// library that are called with a baton or a lock held, or in a destructor: a thread that died there would never give
// the lock back. The cancellation takes effect at the consumer's next cancellation point.
#pragma once

#include <pthread.h>

namespace softdat::base {

// Of a thread that has postponed its cancellation within an Uncancelled and for longer than that lives: the state that
// it goes back to in the end. Null: of no such thread.
inline constinit thread_local int* t_later_cancel_state = nullptr;

class Uncancelled {
 public:
  Uncancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~Uncancelled() {
    if (t_later_cancel_state != nullptr && before_ == PTHREAD_CANCEL_ENABLE) [[unlikely]] {
      *t_later_cancel_state = before_;
    } else {
      pthread_setcancelstate(before_, nullptr);
    }
  }
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace softdat::base
