// SPDX-License-Identifier: BSD-2-Clause
// FaultySender: does to the requests that a queue pair sends, and to their acknowledgements, what the fault plan says.
// Requests are numbered as in docs/decisions/0002: from the connection's first, each once, however often it is sent
// again.
//
// A member of a FaultyChannel, which also owns what the constructor takes. Owned by the baton.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "simnic/fault/alarm.h"
#include "simnic/fault/connection.h"
#include "simnic/fault/connection_end.h"
#include "simnic/fault/outlet.h"
#include "simnic/fault/rate_limit.h"
#include "simnic/fault/request_numbers.h"

namespace softdat::simnic::fault {

class FaultySender {
 public:
  FaultySender(const Connection& connection, ConnectionEnd& end, Outlet& outlet)
      : connection_(connection), end_(end), outlet_(outlet) {}

  // Channel::send() of a request. The first try decides its faults. REQUIRES: the outlet is ready.
  transport::SendResult send(const transport::Message& message, transport::PayloadSource* payload);
  // The queue pair sends everything from this request on again.
  void rewind(std::uint64_t number) {
    numbers_.rewind(number);
    goes_back_ = false;
  }
  // The queue pair has heard that the peer dropped requests for want of a receive.
  void on_resend();

  // A note that acknowledges requests, and the answer to a read or atomic, on their way to the queue pair.
  void on_ack(const transport::Message& note);
  void on_answer(const transport::Message& answer);
  // Delivers an acknowledgement that is late, if there is one.
  void deliver_late_ack();

 private:
  // The faults of one request. They act each time that it is sent.
  struct Marks {
    bool is_refused = false;                    // the peer is to refuse it
    std::optional<transport::Damage> damage{};  // to it on its way
    std::optional<base::Duration> late{};       // its acknowledgement
  };

  void decide(const transport::Message& message);
  void keep_with_write();
  void carry_out(const base::FaultRule& rule, const Point& point);
  void mark_damage(const base::FaultRule& rule, const Point& point);
  void delay(const base::FaultRule& rule, const Point& point);
  transport::SendResult send_decided(const transport::Message& message, transport::PayloadSource* payload);
  transport::SendResult give(const transport::Message& message, transport::PayloadSource* payload);
  transport::SendResult give_torn(const transport::Message& message, transport::PayloadSource* payload);
  void acknowledge(std::uint64_t count);
  bool is_cut_due() const;
  void check_cut();

  const Connection& connection_;
  ConnectionEnd& end_;
  Outlet& outlet_;
  Counts counts_{};
  RequestNumbers numbers_;
  std::uint64_t decisions_ = 0;           // that were taken; immediate data belongs to its write
  std::map<std::uint64_t, Marks> marks_;  // of requests that are not acknowledged
  bool is_withheld_ = false;              // the queue pair waits with a request that the planned end keeps back
  bool goes_back_ = false;                // the queue pair will, when the request that it waits with is out
  RateLimit rate_;
  std::optional<std::uint64_t> late_ack_;  // how many requests it acknowledges
  Alarm ack_alarm_{[this] { deliver_late_ack(); }};
};

}  // namespace softdat::simnic::fault
