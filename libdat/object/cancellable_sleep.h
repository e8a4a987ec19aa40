// SPDX-License-Identifier: BSD-2-Clause
// A sleep that a thread may be cancelled out of, with nothing left behind.
#pragma once

#include "base/assert.h"
#include "base/clock.h"
#include "base/event_count.h"
#include "base/lock_order.h"
#include "hca/device.h"

namespace softdat::object {

// From its construction on the thread counts as a waiter: look at the predicate again, then sleep()
// or let go.
class Sleeper {
 public:
  explicit Sleeper(base::EventCount& count) : count_(count), ticket_(count.prepare()) {}
  // A thread that is cancelled in its sleep comes by here.
  ~Sleeper() {
    if (is_waiting_) count_.cancel();
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  // At most once, in the device's way, without any lock. A cancellation point.
  base::WakeReason sleep(hca::Device& device, base::Time deadline) {
    SOFTDAT_DEBUG_CHECK(is_waiting_, "a ticket is good for one sleep");
    base::require_no_lock();
    const base::WakeReason reason = device.sleep(count_, ticket_, deadline);
    is_waiting_ = false;
    return reason;
  }

 private:
  base::EventCount& count_;
  const base::EventCount::Ticket ticket_;
  bool is_waiting_ = true;
};

}  // namespace softdat::object
