// SPDX-License-Identifier: BSD-2-Clause
// RestPlan: for how long an engine thread that stands aside sleeps between two looks at whether consumers still poll. A
// usual rest is one sleep. A program may also poll, and then wait for messages by looking at memory alone. A message
// that arrives then is placed only by a turn of the engine thread. So after such a message the next rests consist of
// short sleeps, and the engine thread makes a turn after each in which the program was running, and neither polled nor
// posted. It goes on standing aside, so that one that polls again has lost little.
//
// The longer a program has not watched memory, the longer these sleeps get. Where a wake-up takes the processor for
// longer than the sleep lasts, as in some virtual machines, a program that polls gets so little done between two of
// them that it looks like one that watches memory, and sleeps of one length would bring each other for ever.
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
  static constexpr base::Duration kRestOfLead = std::chrono::microseconds(250);  // while threads of the program lead
  static constexpr base::Duration kShortSleep = std::chrono::microseconds(20);
  // A program that has not watched for so long probably polls: half of what goes beyond it is the next short sleep.
  static constexpr base::Duration kPatience = std::chrono::microseconds(300);
  // The short sleeps that one late message brings, and the most that are kept.
  static constexpr std::uint32_t kShortSleepsEarned = 64;
  static constexpr std::uint32_t kMostShortSleeps = 256;

  // A rest begins. `polls` counts the polls of all threads so far.
  void begin(base::Time now, std::uint64_t polls, base::Duration rest = kRest) {
    end_ = now + rest;
    polls_at_begin_ = polls;
  }

  // Whether sleeps are short, so that posts are to be counted.
  bool is_short() const { return short_sleeps_ > 0; }

  // When the next sleep ends.
  base::Time wake_up_time(base::Time now) const {
    return is_short() ? std::min(now + std::max(kShortSleep, (now - watched_ - kPatience) / 2), end_) : end_;
  }

  enum class Next { kSleep, kRest, kPeek, kTakeOver };
  // After a sleep until wake_up_time(): sleep on in this rest, begin another rest, make one turn and sleep on, or take
  // over.
  // `has_watched`: the program used a processor for most of the sleep, and neither polled nor posted.
  Next after_sleep(base::Time now, std::uint64_t polls, bool has_watched) {
    if (has_watched) watched_ = now;
    const bool was_short = is_short();
    if (was_short) --short_sleeps_;
    if (now < end_) return was_short && has_watched ? Next::kPeek : Next::kSleep;
    return polls - polls_at_begin_ >= kBusyPolls ? Next::kRest : Next::kTakeOver;
  }

  // The first turn after a sleep in which the program watched found something to do.
  void note_late_message() { short_sleeps_ = std::min(short_sleeps_ + kShortSleepsEarned, kMostShortSleeps); }

 private:
  base::Time end_{};
  base::Time watched_{};  // the end of the last sleep in which the program watched
  std::uint64_t polls_at_begin_ = 0;
  std::uint32_t short_sleeps_ = 0;
};

}  // namespace softdat::simnic
