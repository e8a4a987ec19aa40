// SPDX-License-Identifier: BSD-2-Clause
// TurnClock: the time of an engine's turns, and since when its polls have found nothing. Reading the system's clock
// costs, so most polls take the time of an earlier turn.
//
// Threads: REQUIRES the baton. Errors: none. The time of turns never goes back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "simnic/program_activity.h"

namespace softdat::simnic {

class TurnClock {
 public:
  // `is_driven`: only the callers of advance() say what time it is.
  explicit TurnClock(bool is_driven) : is_driven_(is_driven) {}

  base::Time now() const { return is_driven_ ? now_ : base::Clock::now(); }
  // When this poll takes place.
  base::Time time_of(std::uint64_t poll) const {
    return !is_driven_ && ProgramActivity::is_clock_poll(poll) ? base::Clock::now() : now_;
  }
  base::Time last_turn() const { return now_; }
  void advance(base::Time now) { now_ = std::max(now_, now); }

  // A poll has done something.
  void note_done() { last_done_ = now_; }
  // Whether polls have been empty for longer than any answer takes on an idle machine, as of this poll, which did
  // `done` things.
  bool is_polled_in_vain(std::uint64_t poll, std::size_t done) {
    if (done > 0) note_done();
    return !is_driven_ && ProgramActivity::is_clock_poll(poll) && now_ - last_done_ > kPatience;
  }

 private:
  static constexpr base::Duration kPatience = std::chrono::microseconds(20);

  const bool is_driven_;
  base::Time now_{};
  base::Time last_done_{};
};

}  // namespace softdat::simnic
