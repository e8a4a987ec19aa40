// SPDX-License-Identifier: BSD-2-Clause
// Deadlines of a carrier's connections. Time comes from turn(now) only, so a timer that is set
// between turns starts to run at the next one. Baton only. Nothing here takes memory.
#pragma once

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set.hpp>
#include <cstddef>

#include "base/clock.h"

namespace softdat::transport::tcp {

class TimerSink {
 public:
  virtual void on_deadline() = 0;

 protected:
  ~TimerSink() = default;
};

class Timers {
  using FreshHook = boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;
  using RunningHook = boost::intrusive::set_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

 public:
  // Belongs to its sink and goes with it. Not to outlive its Timers.
  class Timer : public FreshHook, public RunningHook {
   public:
    Timer(Timers& timers, TimerSink& sink) : timers_(timers), sink_(sink) {}
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

    // Replaces whatever was set before.
    void set(base::Duration after);
    void clear();

   private:
    friend class Timers;
    Timers& timers_;
    TimerSink& sink_;
    base::Duration after_{};  // while fresh
    base::Time deadline_{};   // while running
  };

  // Starts what was set since the last call.
  void start_fresh(base::Time now);
  // Tells the sinks of those that are due; how many.
  std::size_t expire(base::Time now);

  bool has_fresh() const { return !fresh_.empty(); }
  base::Time next() const { return running_.empty() ? base::kNever : running_.begin()->deadline_; }

 private:
  struct DeadlineOf {
    using type = base::Time;
    type operator()(const Timer& timer) const { return timer.deadline_; }
  };
  using Plain = boost::intrusive::constant_time_size<false>;

  boost::intrusive::multiset<Timer, boost::intrusive::base_hook<RunningHook>,
                             boost::intrusive::key_of_value<DeadlineOf>, Plain>
      running_;
  boost::intrusive::list<Timer, boost::intrusive::base_hook<FreshHook>, Plain> fresh_;
};

}  // namespace softdat::transport::tcp
