// SPDX-License-Identifier: BSD-2-Clause
// Many messages in flight, one way or both: what bandwidths and rates are made of.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/softdat/perf/checker.h"
#include "tools/softdat/perf/event_queue.h"
#include "tools/softdat/perf/lanes.h"

namespace softdat::tools::perf {

class Stream {
 public:
  // `sends`, `receives`: whether messages go from, and to, this side.
  Stream(Lanes& lanes, const Case& what, bool sends, bool receives, LivenessCheck check);

  // Before the sides start: posts the first receives.
  void prepare();
  void run();
  // On the side that was written to, when everything is there: whether the last messages are whole.
  void look_at_last();

 private:
  bool is_done() const { return completed_ == to_send_ && arrived_ == to_receive_; }
  bool post_some();
  bool post_next();
  std::uint32_t take_credits(std::uint64_t number, std::uint32_t lane);
  bool reap_some();
  void on_request(const DAT_EVENT& event);
  bool receive_some();
  void on_receive(const DAT_EVENT& event);
  void wait();
  void post_receive();
  std::uint64_t receives_each() const;

  Lanes& lanes_;
  Checker checker_;
  const Case what_;
  const LivenessCheck check_;
  const std::uint32_t window_;
  const std::uint32_t signal_every_;
  const std::uint64_t to_send_;
  const std::uint64_t to_receive_;
  const bool takes_receives_;
  std::uint64_t posted_ = 0;
  std::uint64_t completed_ = 0;
  std::uint64_t arrived_ = 0;
  std::uint64_t receives_posted_ = 0;
  std::uint64_t vain_turns_ = 0;
  std::vector<std::uint32_t> in_flight_;  // of each endpoint
  std::vector<std::uint32_t> silent_;     // posted to each endpoint since the last one that completes
  std::vector<std::uint64_t> arrivals_;   // on each endpoint
  std::vector<std::uint64_t> fetched_;    // completed on each endpoint
};

}  // namespace softdat::tools::perf
