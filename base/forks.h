// SPDX-License-Identifier: BSD-2-Clause
// Handlers of fork(), in place of pthread_atfork(). The C library does not run handlers that are registered after a
// fork has begun. So a child would lack those of a library that another thread loads meanwhile. Whoever loads it has
// handlers of its own that every fork runs, and calls the library's from there.
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

// For constructors that run when the library is loaded: registers handlers, as pthread_atfork() does. Those before a
// fork run in the reverse order of registration.
void on_fork(const ForkHandlers& handlers);

// All that were registered in this library. Each function does nothing when it has run in this fork. Part of the binary
// interface to the registry (docs/REGISTRY.md).
const ForkHandlers& library_fork_handlers();

// Takes a lock before a fork, to be released after it in the parent and in the child, which so inherits no lock that
// another thread holds. By polling: lock() would break the lock order, because handlers that have run before hold locks
// with greater places. REQUIRES: no thread that holds this lock waits for one of those.
template <typename Lockable>
void take_before_fork(Lockable& lockable) {
  for (Backoff backoff; !lockable.try_lock();) backoff.wait();
}

}  // namespace softdat::base
