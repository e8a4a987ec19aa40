// SPDX-License-Identifier: BSD-2-Clause
// The clock of all rooms: monotonic. Functions that wait take a deadline from their caller, and protocol code takes the
// present time, so that tests drive it.
#pragma once

#include <chrono>
#include <limits>

namespace softdat::base {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;
using Duration = Clock::duration;

// The deadline that means: no deadline.
inline constexpr Time kNever = Time::max();

// now + wait; kNever instead of an overflow.
constexpr Time deadline_after(Time now, Duration wait) {
  return wait >= kNever - now ? kNever : now + wait;
}

}  // namespace softdat::base
