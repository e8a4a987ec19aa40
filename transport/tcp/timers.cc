// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/timers.h"

#include <algorithm>
#include <utility>

namespace softdat::transport::tcp {

void Timers::Timer::set(base::Duration after) {
  clear();
  after_ = after;
  phase_ = Phase::kFresh;
  timers_.fresh_.push_back(this);
}

void Timers::Timer::clear() {
  const Phase before = std::exchange(phase_, Phase::kIdle);
  if (before == Phase::kRunning) timers_.running_.erase(place_);
  if (before == Phase::kFresh) std::erase(timers_.fresh_, this);
}

void Timers::start_fresh(base::Time now) {
  for (Timer* timer : fresh_) {
    timer->phase_ = Timer::Phase::kRunning;
    timer->place_ = running_.emplace(base::deadline_after(now, timer->after_), timer);
  }
  fresh_.clear();
}

std::size_t Timers::expire(base::Time now) {
  std::size_t count = 0;
  while (!running_.empty() && running_.begin()->first <= now) {
    Timer* const timer = running_.begin()->second;
    timer->clear();
    timer->sink_.on_deadline();
    ++count;
  }
  return count;
}

}  // namespace softdat::transport::tcp
