// SPDX-License-Identifier: BSD-2-Clause
// Functions by which each part of a Timeline adds an event. Any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <new>

#include "base/clock.h"
#include "base/timeline_file.h"
#include "base/trace_packets.h"

namespace softdat::base {

// The time of an event, in nanoseconds.
inline std::uint64_t timeline_now() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count());
}

// Adds an event of this moment.
inline void add_event(TimelineFile& file, std::uint32_t track, trace::Name name, std::uint64_t flow = 0,
                      trace::Argument argument = trace::Argument::kNone, std::uint64_t value = 0) {
  file.add({.time = timeline_now(), .flow = flow, .value = value, .track = track, .name = name, .argument = argument});
}

// Calls `body`, which tells an event. Without memory the event is counted as lost.
template <typename Body>
void record(TimelineFile& file, Body body) {
  try {
    body();
  } catch (const std::bad_alloc&) {
    file.count_lost(1);
  }
}

}  // namespace softdat::base
