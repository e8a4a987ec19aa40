// SPDX-License-Identifier: BSD-2-Clause
// Outlet: the way of messages to the real channel. It can be held shut for a time, and it sends a note of the fault
// plan's own between two messages of the queue pair's, never within one.
//
// A member of a FaultyChannel, which also owns `connection` and `end`. Owned by the baton.
#pragma once

#include <optional>

#include "simnic/fault/alarm.h"
#include "simnic/fault/connection.h"
#include "simnic/fault/connection_end.h"

namespace softdat::simnic::fault {

class Outlet {
 public:
  Outlet(const Connection& connection, const ConnectionEnd& end) : connection_(connection), end_(end) {}

  // Shuts the outlet; the longest of several holds counts.
  void hold_until(base::Time time);
  void hold_for(base::Duration time);
  bool is_held() const { return is_held_; }
  // Opens it, whatever holds it, and lets a blocked sender try again.
  void open();

  // Sends a note that waits, if this is a border of messages. False: no message may be given now; block().
  bool make_ready() { return !is_held_ && (is_midway_ || !note_ || push_note()); }
  // Returns the answer for send() while the outlet is blocked. The queue pair is told later to try again.
  transport::SendResult block();

  // Gives the message to the inner channel, whole or in part. REQUIRES: make_ready() was true.
  transport::SendResult give(const transport::Message& message, transport::PayloadSource* payload);
  // As give(), with one bit inverted.
  transport::SendResult give_damaged(const transport::Message& message, transport::PayloadSource* payload,
                                     const transport::Damage& damage);
  // Whether the inner channel has taken a part of a message.
  bool is_midway() const { return is_midway_; }

  // Sends the note at the next border of messages. It replaces one that has not been sent. REQUIRES: an inner channel.
  void put_note(const transport::Message& note);
  // The inner channel has room again.
  void on_writable();

 private:
  bool push_note();

  const Connection& connection_;
  const ConnectionEnd& end_;
  bool is_held_ = false;
  base::Time held_until_{};
  bool owes_writable_ = false;  // the queue pair was told kBlocked
  bool is_midway_ = false;
  bool takes_damage_ = false;  // the inner channel does the damage to the message that it has taken in part
  std::optional<transport::Message> note_;
  Alarm alarm_{[this] { open(); }};
};

}  // namespace softdat::simnic::fault
