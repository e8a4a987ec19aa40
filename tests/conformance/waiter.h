// SPDX-License-Identifier: BSD-2-Clause
// Threads that block in dat_evd_wait and dat_cno_wait, and ways to know that they do.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <thread>

#include "tests/conformance/api_version.h"
#include "tests/conformance/events.h"

namespace softdat::conformance {

// A thread in dat_evd_wait.
class EvdWaiter {
 public:
  explicit EvdWaiter(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout = kPatience, DAT_COUNT threshold = 1);
  ~EvdWaiter();

  // Returns once the thread owns the dispatcher, which shows by dequeuing being refused. Requires
  // an empty queue.
  void await_blocked() const;

  // Sends SIGUSR1 to the thread (again and again: one that comes before the wait has begun
  // interrupts nothing) until the wait is over. `flags`: those of its handler, as SA_RESTART.
  void interrupt(int flags = 0);

  bool is_done() const { return done_.load(); }

  // Waits for the end of the wait and tells how it ended.
  DAT_RETURN join();
  const DAT_EVENT& event() const { return event_; }  // after join()
  DAT_COUNT more() const { return more_; }           // after join()

 private:
  DAT_EVD_HANDLE evd_;
  DAT_RETURN result_ = DAT_SUCCESS;
  DAT_EVENT event_{};
  DAT_COUNT more_ = -1;
  std::atomic<pid_t> id_{0};
  std::atomic<bool> done_{false};
  std::thread thread_;
};

// A thread in dat_cno_wait.
class CnoWaiter {
 public:
  explicit CnoWaiter(DAT_CNO_HANDLE cno, DAT_TIMEOUT timeout = kPatience);
  ~CnoWaiter();

  // Returns once the thread sleeps.
  void await_blocked() const;
  void interrupt(int flags = 0);
  bool is_done() const { return done_.load(); }

  DAT_RETURN join();
  DAT_EVD_HANDLE evd() const { return evd_; }  // after join()

 private:
  DAT_RETURN result_ = DAT_SUCCESS;
  DAT_EVD_HANDLE evd_;
  std::atomic<pid_t> id_{0};
  std::atomic<bool> done_{false};
  std::thread thread_;
};

}  // namespace softdat::conformance
