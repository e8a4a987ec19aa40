// SPDX-License-Identifier: BSD-2-Clause
// While one lives, its thread is not cancelled: around those calls of the C library that are cancellation points and
// that are made with a baton or a lock in hand, or by a destructor. A request to cancel waits for the consumer's own
// next point.
#pragma once

#include <pthread.h>

namespace softdat::base {

class Uncancelled {
 public:
  Uncancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~Uncancelled() { pthread_setcancelstate(before_, nullptr); }
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace softdat::base
