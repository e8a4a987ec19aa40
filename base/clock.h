// SPDX-License-Identifier: BSD-2-Clause
// Time is a parameter: everything that waits takes a Time from its caller, so that tests drive it.
#pragma once

#include <chrono>
#include <limits>

namespace softdat::base {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;
using Duration = Clock::duration;

// A deadline that never comes.
inline constexpr Time kNever = Time::max();

// now + wait, saturating at kNever.
constexpr Time deadline_after(Time now, Duration wait) {
  return wait >= kNever - now ? kNever : now + wait;
}

}  // namespace softdat::base
