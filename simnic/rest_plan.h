// SPDX-License-Identifier: BSD-2-Clause
// RestPlan: for how long an engine thread that stands aside sleeps between two looks at whether consumers still poll. A
// usual rest is one sleep. A program may also poll, and then wait for messages by looking at memory alone. A message
// that arrives then is placed only when the engine thread takes over. So after such a message the next rests consist of
// short sleeps, and end with the first one without a poll. A program that goes on polling is disturbed by
// kMostShortSleeps of them at most.
//
// No threads: the engine thread owns it. Times are handed in.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.h"

namespace softdat::simnic {

class RestPlan {
 public:
  // In a rest with fewer polls there might be no turn among them, so the engine thread takes over then.
  static constexpr std::uint64_t kBusyPolls = 64;
  static constexpr base::Duration kRest = std::chrono::milliseconds(1);
  static constexpr base::Duration kShortSleep = std::chrono::microseconds(20);
  // The short sleeps that one late message brings, and the most that are kept.
  static constexpr std::uint32_t kShortSleepsEarned = 64;
  static constexpr std::uint32_t kMostShortSleeps = 256;

  // A rest begins. `polls` counts the polls of all threads so far.
  void begin(base::Time now, std::uint64_t polls) {
    end_ = now + kRest;
    polls_at_begin_ = polls_at_sleep_ = polls;
  }

  // When the next sleep ends.
  base::Time wake_up_time(base::Time now) const { return is_short() ? std::min(now + kShortSleep, end_) : end_; }

  enum class Next { kSleep, kRest, kTakeOver };
  // After a sleep until wake_up_time(): sleep on in this rest, begin another rest, or take over.
  Next after_sleep(base::Time now, std::uint64_t polls) {
    const bool was_short = is_short();
    if (was_short) --short_sleeps_;
    if (was_short && polls == polls_at_sleep_) return Next::kTakeOver;
    polls_at_sleep_ = polls;
    if (now < end_) return Next::kSleep;
    return polls - polls_at_begin_ >= kBusyPolls ? Next::kRest : Next::kTakeOver;
  }

  // The engine thread has taken over after a rest, and its first turn found something to do.
  void note_late_message() { short_sleeps_ = std::min(short_sleeps_ + kShortSleepsEarned, kMostShortSleeps); }

 private:
  bool is_short() const { return short_sleeps_ > 0; }

  base::Time end_{};
  std::uint64_t polls_at_begin_ = 0;
  std::uint64_t polls_at_sleep_ = 0;
  std::uint32_t short_sleeps_ = 0;
};

}  // namespace softdat::simnic
