// SPDX-License-Identifier: BSD-2-Clause
// Deadlines of an engine. Owned by the baton. Nothing here takes memory.
#pragma once

#include <boost/intrusive/set.hpp>
#include <cstddef>

#include "base/clock.h"

namespace softdat::simnic {

class Timers;

// Something with at most one deadline. Cancel it before it is destroyed.
class Timer : public boost::intrusive::set_base_hook<> {
 public:
  virtual ~Timer() = default;
  virtual void on_timer_with_baton() = 0;

 private:
  friend class Timers;
  base::Time deadline_{};  // while it is set
};

class Timers {
 public:
  // Replaces the timer's deadline. kNever is none.
  void set(Timer& timer, base::Time deadline);
  void cancel(Timer& timer);

  // Calls every timer that is due. Returns how many.
  std::size_t run(base::Time now);

  bool empty() const { return timers_.empty(); }
  base::Time next() const { return timers_.empty() ? base::kNever : timers_.begin()->deadline_; }

 private:
  struct DeadlineOf {
    using type = base::Time;
    type operator()(const Timer& timer) const { return timer.deadline_; }
  };

  boost::intrusive::multiset<Timer, boost::intrusive::key_of_value<DeadlineOf>> timers_;
};

}  // namespace softdat::simnic
