// SPDX-License-Identifier: BSD-2-Clause
// Shows the counters of this process to the tools of its user, if SOFTDAT_COUNTERS=on: one thread copies them from the
// objects into a counter file (base/counter_file.h) several times a second, while an IA is open.
//
// The objects count as they do without it, so a post or a poll costs the same. A reader sees numbers that are at most
// kPublishPeriod old, whether the program is busy or asleep.
// docs/decisions/0023-counters-in-a-memfd.md gives the reasons.
#pragma once

#include <chrono>

#include "base/clock.h"
#include "base/counter_file.h"

namespace softdat::object {

inline constexpr base::Duration kPublishPeriod = std::chrono::milliseconds(200);

// Whether SOFTDAT_COUNTERS=on. The environment is read once.
bool are_counters_shown();

// Keeps what an endpoint has counted that is being freed. Any thread.
void keep_sums(const base::EndpointSums& sums);

// An IA that is open and shown. The first one starts the thread, which then sleeps while there is none. Without memory,
// a descriptor or a thread nothing is shown, and one warning says why.
class ShownAdapter {
 public:
  ShownAdapter();
  ~ShownAdapter();
  ShownAdapter(const ShownAdapter&) = delete;
  ShownAdapter& operator=(const ShownAdapter&) = delete;

 private:
  bool is_entered_ = false;
};

}  // namespace softdat::object
