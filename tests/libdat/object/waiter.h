// SPDX-License-Identifier: BSD-2-Clause
// A thread that sits in wait(), and how to know that it does.
#pragma once

#include <pthread.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/asleep.h"
#include "tests/libdat/object/world.h"

namespace softdat::object {

class EvdWaiter {
 public:
  explicit EvdWaiter(Handle evd, std::uint32_t timeout_us = kPatienceUs, std::int32_t threshold = 1)
      : evd_(evd), thread_([this, timeout_us, threshold] {
          auto pin = evd_of(evd_);
          id_.store(::gettid());
          status = pin->waiting().wait(timeout_us, threshold, event, nmore);
        }) {}
  ~EvdWaiter() {
    if (thread_.joinable()) thread_.join();
  }

  // Until it blocks: other dequeuers are refused, and it has looked at the queue for the last time before it sleeps.
  void await_blocked() {
    Event ignored;
    EXPECT_TRUE(eventually([&] { return evd_of(evd_)->dequeue(ignored).type == StatusType::kInvalidState; }));
    EXPECT_TRUE(eventually([this] { return is_asleep(id_.load()); }));
  }
  Status join() {
    thread_.join();
    return status;
  }
  pthread_t native() { return thread_.native_handle(); }

  Status status;
  Event event;
  std::int32_t nmore = -1;

 private:
  Handle evd_;
  std::atomic<pid_t> id_{0};
  std::thread thread_;
};

inline const Status kWaited = invalid_state(StatusDetail::kInvalidStateEvdWaiter);
inline const Status kTimedOut{StatusType::kTimeoutExpired};
inline const Status kEmpty{StatusType::kQueueEmpty};
inline const Status kBareEmpty{StatusType::kQueueEmpty, StatusDetail::kNoSubtype, true};

}  // namespace softdat::object
