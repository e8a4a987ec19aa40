// SPDX-License-Identifier: BSD-2-Clause
// Counts the library's own threads, so that is_consumer_alone() can tell whether the calling thread is the only one
// that runs the consumer's code. Decision 0007 needs that before it moves memory.
//
// One atomic word holds the count. The creator of a thread adds 1 after the thread exists; the thread subtracts 1 as
// its last act. So the count is never larger than the number of own threads.
#pragma once

#include <thread>
#include <utility>

#include "base/blocked_signals.h"

namespace softdat::base {

// Called by the creator of a thread, after it has been created.
void count_own_thread();
// Called by that thread, as its last act.
void forget_own_thread();

// The first local variable of an own thread.
class OwnThread {
 public:
  OwnThread() = default;
  ~OwnThread() { forget_own_thread(); }
  OwnThread(const OwnThread&) = delete;
  OwnThread& operator=(const OwnThread&) = delete;
};

// Starts a counted thread that runs `body` with all signals blocked but SIGSEGV and SIGBUS. Throws std::system_error if
// no thread can be created.
template <typename Body>
std::thread start_own_thread(Body body) {
  const BlockedSignals blocked;  // inherited by the new thread
  std::thread thread([body = std::move(body)]() mutable {
    const OwnThread own;
    body();
  });
  count_own_thread();
  return thread;
}

// While one lives, no own thread begins to call the consumer's functions. Keep it short: these threads wait by
// yielding.
class TurnsHeld {
 public:
  TurnsHeld();
  ~TurnsHeld();
  TurnsHeld(const TurnsHeld&) = delete;
  TurnsHeld& operator=(const TurnsHeld&) = delete;
};

// Lives on an own thread while that thread calls a function of the consumer's. The thread does not count as own
// meanwhile.
class ConsumersTurn {
 public:
  ConsumersTurn();
  ~ConsumersTurn() { count_own_thread(); }
  ConsumersTurn(const ConsumersTurn&) = delete;
  ConsumersTurn& operator=(const ConsumersTurn&) = delete;
};

// Whether the calling thread is the only one of this process that runs the consumer's code. REQUIRES: the caller is no
// own thread, unless a ConsumersTurn lives on it. While a TurnsHeld lives, true stays true, unless the caller starts
// threads or takes a signal. False if the system does not tell. Waits some microseconds for threads that are ending.
// Processes that share the memory without being threads (clone with CLONE_VM) are not seen.
bool is_consumer_alone();

}  // namespace softdat::base
