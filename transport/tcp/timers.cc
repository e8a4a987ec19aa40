// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/timers.h"

namespace softdat::transport::tcp {

void Timers::Timer::set(base::Duration after) {
  clear();
  after_ = after;
  timers_.fresh_.push_back(*this);
}

void Timers::Timer::clear() {
  FreshHook::unlink();
  RunningHook::unlink();
}

void Timers::start_fresh(base::Time now) {
  while (!fresh_.empty()) {
    Timer& timer = fresh_.front();
    fresh_.pop_front();
    timer.deadline_ = base::deadline_after(now, timer.after_);
    running_.insert(timer);
  }
}

std::size_t Timers::expire(base::Time now) {
  std::size_t count = 0;
  while (!running_.empty() && running_.begin()->deadline_ <= now) {
    Timer& timer = *running_.begin();
    timer.clear();
    timer.sink_.on_deadline();
    ++count;
  }
  return count;
}

}  // namespace softdat::transport::tcp
