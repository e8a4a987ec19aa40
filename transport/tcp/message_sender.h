// SPDX-License-Identifier: BSD-2-Clause
// MessageSender: the messages of a connection to its peer, from the agreement to the end. Nothing is sent before
// release_hold() opens the connection. Baton only.
#pragma once

#include "transport/channel.h"
#include "transport/tcp/connection_base.h"
#include "transport/tcp/outbound.h"
#include "transport/tcp/outbound_stream.h"
#include "transport/tcp/teardown.h"

namespace softdat::transport::tcp {

class MessageSender {
 public:
  MessageSender(ConnectionBase& base, const Terms& terms, OutboundStream& stream, Teardown& teardown)
      : base_(base), terms_(terms), stream_(stream), teardown_(teardown), outbound_(stream) {}

  // By the owner, as transport::Channel promises.
  SendResult send(const Message& message, PayloadSource* payload);
  bool send_short(const ShortSend& short_send);
  void flush();
  void cut_within(const Message& message, PayloadSource* payload);
  void damage_next(const Damage& damage) { outbound_.damage_next(damage); }

  // REQUIRES: the terms are agreed.
  void start();
  // From now on the peer may hear from us. Calls the owner's on_established().
  void release_hold();
  // The time is over in which a peer should have been heard, and it has not.
  void nudge();
  // REQUIRES: the peer's first message is a Read Request of no bytes, with which it says that it is ready.
  void answer_empty_read(const Message& message);

  // There is room to write.
  void on_writable();
  // A turn: does what could not be done within the owner's own call.
  void on_due();

 private:
  bool is_open() const { return base_.state() == State::kOpen && !teardown_.has_verdict(); }
  void open();
  SendResult send_message(const Message& message, PayloadSource* payload);
  SendResult hold_back();
  SendResult after_write(WriteStatus status);

  ConnectionBase& base_;
  const Terms& terms_;
  OutboundStream& stream_;
  Teardown& teardown_;
  bool is_blocked_ = false;  // owes its sink an on_writable()
  int nudges_ = 0;           // empty Writes that were to wake a silent foreign responder
  Outbound outbound_;
};

}  // namespace softdat::transport::tcp
