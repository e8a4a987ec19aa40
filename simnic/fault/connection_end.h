// SPDX-License-Identifier: BSD-2-Clause
// ConnectionEnd: whether a connection is over, and how the fault plan is to end it.
//
// When a connection is over, its FaultyChannel calls neither neighbour again. There is one exception: if the channel
// ended it within a call of the queue pair's, a timer tells the queue pair afterwards.
//
// A member of a FaultyChannel, which also owns `connection`. Owned by the baton.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "simnic/fault/alarm.h"
#include "simnic/fault/connection.h"

namespace softdat::simnic::fault {

// How a plan ends a connection.
struct Cut {
  std::uint64_t after = 0;         // when the peer has acknowledged so many requests
  bool is_protocol_error = false;  // this side terminates; otherwise the network breaks
  bool is_within = false;          // in the middle of request `after`
};

class ConnectionEnd {
 public:
  explicit ConnectionEnd(Connection& connection) : connection_(connection) {}

  bool is_over() const { return is_over_; }
  // The connection is over, and the caller tells the queue pair. False: it was over before.
  bool end() { return !std::exchange(is_over_, true); }
  // The queue pair ends the connection, and is told nothing. False: it was over before.
  bool end_by_owner();
  // The connection is over, and the queue pair is told later. `sent`: the Terminate that the peer gets; none: it is
  // cut.
  void end_told_later(const std::optional<transport::TerminateCode>& sent);

  // Replaces what was planned.
  void plan(const Cut& cut) { cut_ = cut; }
  const std::optional<Cut>& planned() const { return cut_; }
  // Carries the planned cut out, but later: the queue pair may be within a call of the channel's.
  void carry_out_soon();

 private:
  struct Report {
    transport::CloseReason reason;
    transport::TerminateCode code;
  };

  void on_alarm();

  Connection& connection_;
  std::optional<Cut> cut_;
  bool is_over_ = false;
  std::optional<Report> untold_;  // what the queue pair is told later
  Alarm alarm_{[this] { on_alarm(); }};
};

}  // namespace softdat::simnic::fault
