// SPDX-License-Identifier: BSD-2-Clause
// TurnClock: the time of an engine's turns, and when a thread whose polls find nothing is to yield. Reading the
// system's clock costs, so most polls take the time of an earlier turn.
//
// Only a poll that looks at the clock and finds nothing yields. A lone poller yields when polls have found nothing for
// kPatience, longer than any answer takes on an idle machine. One of several threads that poll this adapter yields at
// once, because another one may have work and wait for this processor. After a long yield they wait as a lone poller
// does, for kCrowded: a program that does not poll keeps the processor for milliseconds.
//
// Threads: REQUIRES the baton. Errors: none. The time of turns never goes back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>

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
  // Whether the thread that makes this poll should yield. `done`: how many things the poll did.
  bool should_yield(std::uint64_t poll, std::size_t done, std::thread::id poller = std::this_thread::get_id()) {
    if (done > 0) note_done();
    if (is_driven_ || !ProgramActivity::is_clock_poll(poll)) return false;
    const std::thread::id last = std::exchange(last_poller_, poller);
    if (last != poller && last != std::thread::id()) last_change_ = now_;
    const bool was_away_for_long = has_yielded_ && now_ - last_look_ > kLongYield;
    if (was_away_for_long) crowded_until_ = now_ + kCrowded;
    last_look_ = now_;
    const bool is_one_of_several = now_ - last_change_ < kMemory && now_ >= crowded_until_;
    has_yielded_ = done == 0 && (is_one_of_several || now_ - last_done_ > kPatience);
    return has_yielded_;
  }

 private:
  static constexpr base::Duration kPatience = std::chrono::microseconds(20);
  // So long after polls of two threads, both still count as polling.
  static constexpr base::Duration kMemory = std::chrono::milliseconds(1);
  // No poller looked at the clock for so long after a yield: another program had the processor.
  static constexpr base::Duration kLongYield = std::chrono::microseconds(300);
  // So long it is then expected to take it again.
  static constexpr base::Duration kCrowded = std::chrono::milliseconds(50);

  const bool is_driven_;
  base::Time now_{};
  base::Time last_done_{};
  std::thread::id last_poller_;  // as of the last poll that looked at the clock
  base::Time last_change_{};     // of last_poller_
  base::Time last_look_{};       // the same poll's
  bool has_yielded_ = false;     // that poll
  base::Time crowded_until_{};
};

}  // namespace softdat::simnic
