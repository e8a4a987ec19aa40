// SPDX-License-Identifier: BSD-2-Clause
// MessageReceiver: the messages of a connection from its peer, from the agreement to the end, and the Terminate that
// answers a broken one. The owner's on_established() comes before the peer's first message. Baton only.
#pragma once

#include "transport/channel.h"
#include "transport/tcp/connection_base.h"
#include "transport/tcp/inbound.h"
#include "transport/tcp/message_sender.h"
#include "transport/tcp/outbound_stream.h"
#include "transport/tcp/teardown.h"

namespace softdat::transport::tcp {

class MessageReceiver final : private InboundSink {
 public:
  MessageReceiver(ConnectionBase& base, const Terms& terms, const OutboundStream& stream, MessageSender& sender,
                  Teardown& teardown)
      : base_(base),
        terms_(terms),
        stream_(stream),
        sender_(sender),
        teardown_(teardown),
        inbound_(base.hub().pool(), *this) {}

  // By the owner, as transport::Channel promises.
  void terminate(const TerminateCode& code);

  // REQUIRES: the terms are agreed. Starts the sender, too. Messages may come once the state allows it.
  void start();
  // False: there was nothing. May end the connection, so the caller holds it.
  bool read();
  // Whether the peer has sent an FPDU, or at least its head.
  bool has_heard() const { return inbound_.parser().has_heard(); }
  void abandon() { inbound_.abandon(); }

 private:
  // InboundSink
  Placement place(const Arrival& arrival, SliceList& out) override;
  void on_fault(const Arrival& arrival) override { base_.owner()->on_fault(arrival); }
  bool on_short_send(const ShortSend& short_send) override {
    // The peer's first message establishes the connection, after which the sink may end it.
    return base_.owner().is_established() && base_.owner()->on_short_send(short_send);
  }
  void on_message(const Message& message) override;
  void on_ready_to_receive(const Message& message) override;
  bool is_receiving() const override { return base_.is_receiving(); }

  bool on_first_sign();
  void on_outcome(const ReadOutcome& outcome);
  void on_stream_end();
  void send_terminate(const TerminateCode& code);

  ConnectionBase& base_;
  const Terms& terms_;
  const OutboundStream& stream_;
  MessageSender& sender_;
  Teardown& teardown_;
  Inbound inbound_;
};

}  // namespace softdat::transport::tcp
