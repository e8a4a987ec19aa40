// SPDX-License-Identifier: BSD-2-Clause
#include "base/timers.h"

namespace softdat::base {

void Timers::set(Timer& timer, Time deadline) {
  timer.cancel_timer();
  if (deadline == kNever) return;
  timer.deadline_ = deadline;
  timers_.insert(timer);
}

void Timers::set_after(Timer& timer, Duration after) {
  timer.cancel_timer();
  timer.after_ = after;
  // The greatest key: fresh timers stand behind all that run, and take_due() never reaches them.
  timer.deadline_ = kNever;
  timers_.insert(timer);
  may_have_fresh_ = true;
}

void Timers::start_fresh(Time now) {
  may_have_fresh_ = false;
  while (!timers_.empty() && timers_.rbegin()->deadline_ == kNever) {
    Timer& timer = *timers_.lower_bound(kNever);
    set(timer, deadline_after(now, timer.after_));
  }
}

Timer* Timers::take_due(Time now) {
  if (timers_.empty() || timers_.begin()->deadline_ > now || timers_.begin()->deadline_ == kNever) return nullptr;
  Timer& timer = *timers_.begin();
  timer.cancel_timer();
  return &timer;
}

// A timer is unlinked before it is called, so it may set itself anew or end.
std::size_t Timers::run(Time now) {
  start(now);
  std::size_t count = 0;
  while (Timer* const timer = take_due(now)) {
    timer->on_timer();
    ++count;
  }
  return count;
}

}  // namespace softdat::base
