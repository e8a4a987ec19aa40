// SPDX-License-Identifier: BSD-2-Clause
#include "base/timeline_thread.h"

#include <time.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/assert.h"
#include "base/made_once.h"
#include "base/timeline_event.h"

namespace softdat::base {
namespace {

using trace::Name;
using trace::Type;

// A program that polls without a break looks again sooner.
constexpr std::uint64_t kShortestPause = 20'000;
// A loop that polls takes less processor time from one poll to the next, a program that computes meanwhile more.
constexpr std::uint64_t kShortestWork = 5'000;

thread_local constinit TimelineThread t_own{};

std::uint64_t processor_time() {
  timespec time = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

// The difference of two readings with nothing between them.
std::uint64_t cost_of_reading() {
  static constinit FoundOnce<std::uint64_t> cost;
  return cost.get([] {
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    for (int i = 0; i < 64; ++i) {
      const std::uint64_t before = processor_time();
      least = std::min(least, processor_time() - before);
    }
    return least;
  });
}

}  // namespace

TimelineThread& TimelineThread::own() {
  return t_own;
}

std::uint32_t TimelineThread::track(TimelineFile& file) {
  if (file_ != &file) {
    track_ = file.add_thread();
    file_ = &file;
    vain_poll_ = 0;
  }
  return track_;
}

void TimelineThread::begin_pause(TimelineFile& file) {
  end_pause(file);
  track(file);
  vain_poll_ = timeline_now();
}

void TimelineThread::end_pause(TimelineFile& file) {
  if (file_ != &file || vain_poll_ == 0) return;
  const std::uint64_t begun = std::exchange(vain_poll_, 0);
  const std::uint64_t ended = timeline_now();
  if (ended - begun < kShortestPause) return;
  file.add({.time = begun, .track = track_, .name = Name::kPause, .type = Type::kBegin});
  file.add({.time = ended, .track = track_, .name = Name::kPause, .type = Type::kEnd});
}

void TimelineThread::enter() {
  // Only the outermost call counts; left_ is 0 before the thread's first call.
  if (depth_++ > 0 || left_ == 0) return;
  const std::uint64_t passed = processor_time() - left_;
  const std::uint64_t computed = passed - std::min(passed, cost_of_reading());
  if (vain_poll_ == 0 || computed >= kShortestWork) computed_ += computed;
}

void TimelineThread::leave() {
  SOFTDAT_DEBUG_CHECK(depth_ > 0, "each leave() ends one enter()");
  if (--depth_ > 0) return;
  // Measure now, outside of what the next enter() would count as the program's work.
  static_cast<void>(cost_of_reading());
  left_ = processor_time();
}

void TimelineThread::tell_computed(TimelineFile& file) {
  constexpr std::uint64_t kMost = 4'000'000'000;  // a reader takes 32 bits
  while (computed_ > 0) {
    const std::uint64_t part = std::min(computed_, kMost);
    computed_ -= part;
    add_event(file, track(file), Name::kCompute, 0, trace::Argument::kNanoseconds, part);
  }
}

}  // namespace softdat::base
