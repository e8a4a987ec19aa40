// SPDX-License-Identifier: BSD-2-Clause
// One message each way in turns, and single one-sided operations: what latencies are made of.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/softdat/perf/checker.h"
#include "tools/softdat/perf/event_queue.h"
#include "tools/softdat/perf/lanes.h"

namespace softdat::tools::perf {

// Ticks, one a round; saturated, not wrapped.
using Samples = std::vector<std::uint32_t>;

class PingPong {
 public:
  PingPong(Lanes& lanes, const Case& what, LivenessCheck check);

  // Before the sides start: nothing of this case may arrive earlier.
  void prepare();
  // The side that begins, and holds the clock: whole round trips.
  void lead(Samples& samples);
  void follow();

 private:
  void post(std::uint64_t number);
  void await_arrival(std::uint64_t number);
  void watch_memory(std::uint64_t number);
  void watch_memory_and_queues(const std::uint8_t* tail, std::uint8_t mark);
  void refill_receives();
  void reap();
  void finish();
  void pause() const;

  Lanes& lanes_;
  Checker checker_;
  const Case what_;
  const LivenessCheck check_;
  const bool receives_;
  const std::uint64_t ahead_;  // receives that are posted to all endpoints together
  std::uint64_t posted_receives_ = 0;
  std::uint64_t arrived_ = 0;
  std::uint32_t outstanding_ = 0;
  Post next_{};
};

// From each post to its completion, one at a time.
void complete_singly(Lanes& lanes, const Case& what, const LivenessCheck& check, Samples& samples);

}  // namespace softdat::tools::perf
