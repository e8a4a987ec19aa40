// SPDX-License-Identifier: BSD-2-Clause
// An EVD, and the ways to wait for it. It is freed with its adapter.
#pragma once

#include <dat2/udat.h>

#include <functional>

#include "tools/softdat/dat_call.h"
#include "tools/softdat/perf/adapter.h"
#include "tools/softdat/perf/plan.h"

namespace softdat::tools::perf {

// Called now and then while something is awaited; throws Failure when it will never come.
using LivenessCheck = std::function<void()>;

class EventQueue {
 public:
  EventQueue(const Adapter& adapter, DAT_COUNT length, int flags);
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  DAT_EVD_HANDLE handle() const { return evd_; }

  // Polls once.
  bool try_take(DAT_EVENT& event) {
    const DAT_RETURN result = dat_evd_dequeue(evd_, &event);
    if (result == DAT_SUCCESS) return true;
    if (DAT_GET_TYPE(result) != DAT_QUEUE_EMPTY) require(result, "dat_evd_dequeue");
    return false;
  }
  // Waits as long as `check` allows.
  void take(Waiting waiting, const LivenessCheck& check, DAT_EVENT& event);
  // Blocks until an event comes; a Failure that says it waited for `what` if none does for long.
  DAT_EVENT await(const char* what);

 private:
  void take_blocking(const LivenessCheck& check, DAT_EVENT& event);

  DAT_EVD_HANDLE evd_ = DAT_HANDLE_NULL;
};

// The completion in `event`. Failure if it is that of a DTO that failed, or no completion.
const DAT_DTO_COMPLETION_EVENT_DATA& completion_of(const DAT_EVENT& event);

}  // namespace softdat::tools::perf
