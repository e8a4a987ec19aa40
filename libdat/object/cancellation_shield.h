// SPDX-License-Identifier: BSD-2-Clause
// Lets a program cancel a thread in dat_evd_wait or dat_cno_wait, also asynchronously. The thread may end only in the
// sleep itself, where it holds no lock and every frame can be unwound, or as the call returns.
#pragma once

#include <pthread.h>

#include <type_traits>

#include "base/uncancelled.h"

namespace softdat::object {

// Calls `wait` with the cancellation of the thread deferred. The calling thread ends in here if it is cancelled in the
// sleep, or was cancelled meanwhile asynchronously.
//
// An asynchronous cancellation may come at any instruction of the caller before and after this. The C++ runtime ends
// the process if it unwinds a frame that has something to destroy at such an instruction. REQUIRES: the caller is what
// stands in the provider's table, and has nothing to destroy; `wait` is not inlined (gnu::noinline). No frame between
// here and the sleep is noexcept, or has a catch (...) that does not throw again.
template <typename Answer, typename... Arguments>
[[gnu::always_inline]] inline Answer call_deferring_cancellation(Answer (*wait)(Arguments...),
                                                                 std::type_identity_t<Arguments>... arguments) {
  const int own_type = base::defer_cancellation();
  const Answer answer = wait(arguments...);
  pthread_setcanceltype(own_type, nullptr);
  return answer;
}

}  // namespace softdat::object
