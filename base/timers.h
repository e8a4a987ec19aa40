// SPDX-License-Identifier: BSD-2-Clause
// Timers: deadlines on a clock that the caller drives. One thread at a time: the engine's and the carrier's are owned
// by the baton, those of a verbs device are guarded by its event thread's mutex. Never allocates: a timer is its own
// node. docs/decisions/0021-lockfree-and-asio.md says why these are not Boost.Asio's timers.
#pragma once

#include <boost/intrusive/set.hpp>
#include <cstddef>

#include "base/clock.h"

namespace softdat::base {

// Something with at most one deadline. Its end cancels it. Must not outlive the Timers that it is set in.
class Timer : public boost::intrusive::set_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  Timer() = default;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  virtual ~Timer() = default;

  virtual void on_timer() = 0;
  void cancel_timer() { unlink(); }

 private:
  friend class Timers;
  Duration after_{};  // while deadline_ is kNever
  Time deadline_{};   // kNever: after_ has not begun to run
};

class Timers {
 public:
  // Both replace what was set before. A deadline of kNever means none.
  void set(Timer& timer, Time deadline);
  // For callers that do not know the time: `after` begins to run at the next start() or run().
  void set_after(Timer& timer, Duration after);

  void start(Time now) {
    if (may_have_fresh_) start_fresh(now);
  }
  // Whether a timer may have been set whose time begins to run at the next start().
  bool has_fresh() const { return may_have_fresh_; }
  // Calls every timer that is due, the earliest first. Returns how many. What they set_after() begins to run later.
  std::size_t run(Time now);
  // Unlinks the earliest timer that is due, for a caller that calls it himself. Null: none is.
  Timer* take_due(Time now);

  bool empty() const { return timers_.empty(); }
  // kNever: nothing runs.
  Time next() const { return timers_.empty() ? kNever : timers_.begin()->deadline_; }

 private:
  struct DeadlineOf {
    using type = Time;
    type operator()(const Timer& timer) const { return timer.deadline_; }
  };

  void start_fresh(Time now);

  // Those that have not begun to run are the last.
  boost::intrusive::multiset<Timer, boost::intrusive::key_of_value<DeadlineOf>,
                             boost::intrusive::constant_time_size<false>>
      timers_;
  bool may_have_fresh_ = false;  // some that have not begun to run; asked in every turn
};

}  // namespace softdat::base
