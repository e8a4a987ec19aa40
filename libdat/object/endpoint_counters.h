// SPDX-License-Identifier: BSD-2-Clause
// What an EP counts: its own calls, and what the queue pairs that it has had count of transfers.
//
// Owned by the EP. Any thread, unless a function says otherwise. The list of queue pairs is looked at under the lock of
// the EP, which is handed in. No call fails.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "base/counter_file.h"
#include "libdat/object/counters.h"
#include "libdat/object/endpoint_bindings.h"
#include "libdat/object/endpoint_parameters.h"
#include "libdat/object/lock_places.h"
#include "libdat/object/object.h"

namespace softdat::object {

class EndpointCounters {
 public:
  // All outlive this object.
  EndpointCounters(const Object& ep, const EndpointBindings& bindings, base::Mutex<locks::kEndpoint>& mutex)
      : ep_(ep), bindings_(bindings), mutex_(mutex) {}

  // One more of ep_counter.
  void add(std::size_t which) { counters_.add(which); }
  // The state of the EP changes now.
  void note_change() { changed_at_.store(base::Clock::now().time_since_epoch().count(), std::memory_order_relaxed); }

  // A counter of ep_counter. Resets it if asked.
  std::uint64_t counter(std::size_t which, bool reset);
  // What all queue pairs have counted.
  base::EndpointSums sums() const;
  // Adds the EP's transfers to the totals of the process (run_report.h). Called once, at the end of the EP or of the
  // process.
  void report_transfers() const;
  // What the tools of the user see of the EP (counter_publisher.h). `now`: of its query(). One thread at a time.
  base::EpRecord record(const EndpointParameters& now);

 private:
  const Object& ep_;
  const EndpointBindings& bindings_;
  base::Mutex<locks::kEndpoint>& mutex_;

  CounterSet<ep_counter::kCount, ep_counter::kFirstTransfer> counters_;
  std::atomic<base::Clock::rep> changed_at_{base::Clock::now().time_since_epoch().count()};
  std::uint64_t shown_requests_ = 0;  // completed ones, by record(), which tells them never less
};

}  // namespace softdat::object
