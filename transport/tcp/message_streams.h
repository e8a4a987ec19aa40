// SPDX-License-Identifier: BSD-2-Clause
// MessageStreams: the messages of a connection, in both directions, from the agreement to the end. Nothing is sent
// before release_hold() opens the connection; on_established() comes before the peer's first message. Baton only.
#pragma once

#include "transport/channel.h"
#include "transport/tcp/connection_base.h"
#include "transport/tcp/inbound.h"
#include "transport/tcp/outbound.h"
#include "transport/tcp/teardown.h"

namespace softdat::transport::tcp {

class MessageStreams final : private InboundSink {
 public:
  MessageStreams(ConnectionBase& base, const Terms& terms, Outbound& outbound, Teardown& teardown)
      : base_(base), terms_(terms), outbound_(outbound), teardown_(teardown), inbound_(base.hub().pool(), *this) {}

  // By the owner, as transport::Channel promises.
  SendResult send(const Message& message, PayloadSource* payload);
  void flush();
  void terminate(const TerminateCode& code);
  void cut_within(const Message& message, PayloadSource* payload);
  void damage_next(const Damage& damage) { outbound_.damage_next(damage); }
  Features features() const { return terms_.agreement.features; }

  // The terms are agreed. Messages may come once the state allows it.
  void start();
  // From now on the peer may hear from us.
  void release_hold();
  // The time is over in which a peer should have been heard.
  void nudge();

  // There is room to write; what could not be said within the owner's own call; there may be something to read (false:
  // there was nothing).
  void on_writable();
  void on_due();
  bool read();
  void abandon() { inbound_.abandon(); }

 private:
  // InboundSink
  Placement place(const Arrival& arrival, SliceList& out) override;
  void on_fault(const Arrival& arrival) override { base_.owner()->on_fault(arrival); }
  void on_message(const Message& message) override;
  void on_ready_to_receive(const Message& message) override;
  bool is_receiving() const override { return base_.is_receiving(); }

  void open();
  bool heed_first_sign();
  void answer_empty_read(const Message& message);
  void heed(const ReadOutcome& outcome);
  void on_stream_end();
  void send_terminate(const TerminateCode& code);
  SendResult send_message(const Message& message, PayloadSource* payload);
  SendResult hold_back();
  SendResult after_write(WriteStatus status);

  ConnectionBase& base_;
  const Terms& terms_;
  Outbound& outbound_;
  Teardown& teardown_;
  Inbound inbound_;
  bool is_blocked_ = false;  // owes its sink an on_writable()
  int nudges_ = 0;           // empty Writes that were to wake a silent foreign responder
};

}  // namespace softdat::transport::tcp
