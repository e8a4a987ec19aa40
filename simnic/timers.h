// SPDX-License-Identifier: BSD-2-Clause
// Deadlines of an engine. Owned by the baton.
#pragma once

#include <map>
#include <optional>

#include "base/clock.h"

namespace softdat::simnic {

class Timers;

// Something with at most one deadline. Cancel it before it is destroyed.
class Timer {
 public:
  virtual ~Timer() = default;
  virtual void on_timer_with_baton() = 0;

 private:
  friend class Timers;
  std::optional<std::multimap<base::Time, Timer*>::iterator> place_;
};

class Timers {
 public:
  // Replaces the timer's deadline. kNever is none.
  void set(Timer& timer, base::Time deadline);
  void cancel(Timer& timer);

  // Calls every timer that is due. Returns how many.
  std::size_t run(base::Time now);

  bool empty() const { return timers_.empty(); }
  base::Time next() const { return timers_.empty() ? base::kNever : timers_.begin()->first; }

 private:
  std::multimap<base::Time, Timer*> timers_;
};

}  // namespace softdat::simnic
