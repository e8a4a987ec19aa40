// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/timers.h"

namespace softdat::simnic {

void Timers::set(Timer& timer, base::Time deadline) {
  cancel(timer);
  if (deadline == base::kNever) return;
  timer.deadline_ = deadline;
  timers_.insert(timer);
}

void Timers::cancel(Timer& timer) {
  if (timer.is_linked()) timers_.erase(timers_.iterator_to(timer));
}

std::size_t Timers::run(base::Time now) {
  std::size_t count = 0;
  while (next() <= now && !timers_.empty()) {
    Timer& timer = *timers_.begin();
    cancel(timer);
    timer.on_timer_with_baton();
    ++count;
  }
  return count;
}

}  // namespace softdat::simnic
