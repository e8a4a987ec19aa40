// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/timers.h"

namespace softdat::simnic {

void Timers::set(Timer& timer, base::Time deadline) {
  cancel(timer);
  if (deadline == base::kNever) return;
  timer.place_ = timers_.emplace(deadline, &timer);
}

void Timers::cancel(Timer& timer) {
  if (!timer.place_) return;
  timers_.erase(*timer.place_);
  timer.place_.reset();
}

std::size_t Timers::run(base::Time now) {
  std::size_t count = 0;
  while (next() <= now && !timers_.empty()) {
    Timer& timer = *timers_.begin()->second;
    cancel(timer);
    timer.on_timer_with_baton();
    ++count;
  }
  return count;
}

}  // namespace softdat::simnic
