// SPDX-License-Identifier: BSD-2-Clause
// An arena as a process without privileges has it: system calls do not wait while memory is moved.
#pragma once

#include <signal.h>

#include <memory>
#include <utility>

#include "memory/arena.h"
#include "memory/page_mover.h"

namespace softdat::memory::testing {

// AddressSanitizer handles SIGFPE on an alternate stack, which keeps memory where it is in such a process.
inline void remove_handlers_of_sanitizers() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  for (const int signal : {SIGFPE, SIGILL, SIGABRT, SIGTRAP}) static_cast<void>(::signal(signal, SIG_DFL));
#endif
}

inline std::unique_ptr<Arena> make_humble_arena() {
  remove_handlers_of_sanitizers();
  PageMover mover;
  mover.forgo_system_calls();
  return Arena::create(std::move(mover));
}

}  // namespace softdat::memory::testing
