// SPDX-License-Identifier: BSD-2-Clause
// Deadlines of a carrier's connections. Time comes from turn(now) only, so a timer that is set
// between turns starts to run at the next one. Baton only.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "base/clock.h"

namespace softdat::transport::tcp {

class TimerSink {
 public:
  virtual void on_deadline() = 0;

 protected:
  ~TimerSink() = default;
};

class Timers {
 public:
  // Belongs to its sink and goes with it. Not to outlive its Timers.
  class Timer {
   public:
    Timer(Timers& timers, TimerSink& sink) : timers_(timers), sink_(sink) {}
    ~Timer() { clear(); }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

    // Replaces whatever was set before.
    void set(base::Duration after);
    void clear();

   private:
    friend class Timers;
    using Place = std::multimap<base::Time, Timer*>::iterator;
    enum class Phase { kIdle, kFresh, kRunning };
    Timers& timers_;
    TimerSink& sink_;
    Phase phase_ = Phase::kIdle;
    base::Duration after_{};
    Place place_{};
  };

  // Starts what was set since the last call.
  void start_fresh(base::Time now);
  // Tells the sinks of those that are due; how many.
  std::size_t expire(base::Time now);

  bool has_fresh() const { return !fresh_.empty(); }
  base::Time next() const { return running_.empty() ? base::kNever : running_.begin()->first; }

 private:
  std::multimap<base::Time, Timer*> running_;
  std::vector<Timer*> fresh_;
};

}  // namespace softdat::transport::tcp
