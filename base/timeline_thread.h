// SPDX-License-Identifier: BSD-2-Clause
// TimelineThread: what the timeline knows of one thread between two calls of its program: its track, a pause after a
// poll that found nothing, and the processor time that it takes.
//
// One object for each thread, for that thread alone. Functions that take a file may throw std::bad_alloc.
#pragma once

#include <cstdint>

#include "base/timeline_file.h"

namespace softdat::base {

class TimelineThread {
 public:
  // Returns the object of the calling thread.
  static TimelineThread& own();

  // The thread's track in this file, which is made by the first call.
  std::uint32_t track(TimelineFile& file);

  // A poll has found nothing. A pause begins, which the next event ends; a short one is not told.
  void begin_pause(TimelineFile& file);
  void end_pause(TimelineFile& file);

  // Around each call of the program's, also within another. What the thread computes between two calls is counted, but
  // not a short time after a poll that found nothing: it belongs to the loop that polls.
  void enter();
  void leave();
  // Tells what was counted, as an event that is about to be followed by one of a call.
  void tell_computed(TimelineFile& file);

 private:
  const TimelineFile* file_ = nullptr;  // in which it has track_
  std::uint32_t track_ = 0;
  std::uint64_t vain_poll_ = 0;  // when the last one ended; 0: the last call was another
  std::uint64_t left_ = 0;       // processor time when the last call ended; 0: there was none
  std::uint64_t computed_ = 0;   // processor time that is not told yet
  std::uint32_t depth_ = 0;      // of calls within calls
};

}  // namespace softdat::base
