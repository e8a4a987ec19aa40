// SPDX-License-Identifier: BSD-2-Clause
// Handlers of fork(), in place of pthread_atfork(). The registry calls the handlers of our provider library, for two
// reasons. The C library does not run handlers that are registered after a fork has begun, so a child would lack those
// of a library that another thread loads during the fork. And every fork must take the registry's locks before the
// library's, or two forks deadlock.
//
// The caller of the handlers:
//   by default              the C library
//   after postpone_forks()  none; nothing else of the library may run until one of the next two is called
//   after follow_forks()    the C library, unless lend_forks() has been called
//   after lend_forks()      the registry
#pragma once

#include "base/backoff.h"

namespace softdat::base {

using ForkHandler = void (*)();

// Null: nothing to do.
struct ForkHandlers {
  ForkHandler prepare = nullptr;
  ForkHandler in_parent = nullptr;
  ForkHandler in_child = nullptr;
};

// For constructors that run when the library is loaded: adds handlers. `prepare` runs in the reverse order of calls,
// the others in their order, as with pthread_atfork().
void on_fork(const ForkHandlers& handlers);

// REQUIRES: called by a constructor of priority 101. See above.
void postpone_forks();
// Any thread.
void follow_forks();
// Any thread. Returns functions that run all handlers. Part of the binary interface to the registry (docs/REGISTRY.md):
// called in the thread that forks, `prepare` before the fork, one of the others after it; several callers in one fork
// count as one.
const ForkHandlers& lend_forks();

// Takes a lock before a fork, to be released after it in the parent and in the child, which so inherits no lock that
// another thread holds. By polling: lock() would break the lock order, because handlers that have run before hold locks
// with greater places. REQUIRES: no thread that holds this lock waits for one of those.
template <typename Lockable>
void take_before_fork(Lockable& lockable) {
  for (Backoff backoff; !lockable.try_lock();) backoff.wait();
}

}  // namespace softdat::base
