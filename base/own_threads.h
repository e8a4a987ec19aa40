// SPDX-License-Identifier: BSD-2-Clause
// Which threads of this process run nothing but our code, so that it can be told whether the consumer has any but the
// one that calls us.
//
// One word counts them; it is changed by whoever starts such a thread, once it exists, and by the thread itself, last
// of all. So it never says more than there are.
#pragma once

#include <thread>
#include <utility>

#include "base/blocked_signals.h"

namespace softdat::base {

// By the creator of a thread, as soon as it has been created.
void count_own_thread();
// By that thread, when it does nothing more.
void forget_own_thread();

// Outermost on the stack of such a thread.
class OwnThread {
 public:
  OwnThread() = default;
  ~OwnThread() { forget_own_thread(); }
  OwnThread(const OwnThread&) = delete;
  OwnThread& operator=(const OwnThread&) = delete;
};

// Starts a thread that runs `body` and is counted as ours. Signals are the consumer's threads' business.
// std::system_error: there can be no thread.
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

// While one lives, no thread of ours begins a turn of the consumer's. Not for long: they wait by yielding.
class TurnsHeld {
 public:
  TurnsHeld();
  ~TurnsHeld();
  TurnsHeld(const TurnsHeld&) = delete;
  TurnsHeld& operator=(const TurnsHeld&) = delete;
};

// While one lives, its thread, one of ours, runs the consumer's code.
class ConsumersTurn {
 public:
  ConsumersTurn();
  ~ConsumersTurn() { count_own_thread(); }
  ConsumersTurn(const ConsumersTurn&) = delete;
  ConsumersTurn& operator=(const ConsumersTurn&) = delete;
};

// Whether the calling thread, not one of ours unless the consumer has its turn there, is the only one of this process
// that runs the consumer's code; asked while turns are held it remains so as long, unless the caller itself changes it
// or takes a signal. False also when the system does not tell. It waits a little for threads that are about to end.
// Processes that share our memory without being threads are not seen.
bool is_consumer_alone();

}  // namespace softdat::base
