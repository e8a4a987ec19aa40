// SPDX-License-Identifier: BSD-2-Clause
// FaultyReceiver: does to the peer's requests, on their way to the queue pair, what the fault plan says. Requests are
// numbered as in docs/decisions/0002: from the connection's first, each once, however often it is sent again.
//
// A member of a FaultyChannel, which also owns what the constructor takes. Owned by the baton.
#pragma once

#include <cstdint>
#include <optional>

#include "simnic/fault/alarm.h"
#include "simnic/fault/connection.h"
#include "simnic/fault/connection_end.h"
#include "simnic/fault/outlet.h"

namespace softdat::simnic::fault {

class FaultyReceiver {
 public:
  FaultyReceiver(const Connection& connection, ConnectionEnd& end, Outlet& outlet)
      : connection_(connection), end_(end), outlet_(outlet) {}

  // The calls of ChannelSink for requests of the peer's.
  transport::Placement place(const transport::Arrival& arrival, transport::SliceList& out);
  void on_message(const transport::Message& message);
  // The peer sends everything from this request on again. True: because the fault plan asked for it, and not the queue
  // pair.
  bool on_resent(std::uint64_t number);

 private:
  transport::Placement decide(const transport::Arrival& arrival);
  transport::Placement fail_receive(const base::FaultRule& rule, const transport::Arrival& arrival);
  transport::Placement find_no_receive();
  void ask_again();

  const Connection& connection_;
  ConnectionEnd& end_;
  Outlet& outlet_;
  Counts counts_{};
  std::uint64_t next_ = 0;                    // number of the next request
  std::uint64_t decided_ = 0;                 // of those before it the faults are known
  std::uint64_t received_ = 0;                // receives that messages have found
  bool is_dropping_ = false;                  // nothing counts until the peer is back at request next_
  std::uint64_t refusals_ = 0;                // for want of a receive, that this request has still to get
  base::Duration refusal_delay_{};            // until the peer is asked to send it again
  std::optional<std::uint64_t> overflow_at_;  // this request's completion is lost
  bool wakes_ = false;                        // spuriously, after the present request
  Alarm ask_alarm_{[this] { ask_again(); }};
};

}  // namespace softdat::simnic::fault
