// SPDX-License-Identifier: BSD-2-Clause
// Connection: one TCP connection from its first packet to its last, whichever side it is on. Holds its parts together,
// and leads what the reactor, the clock and the hub tell to the part that the state names. It outlives the Channel or
// InboundRequest through which its owner sees it: the hub holds it until the socket is gone. Baton only.
//
// The parts call downward only: handshakes, MessageReceiver, MessageSender, Teardown, ConnectionBase. If memory runs
// out in a turn, the connection is lost, not the thread whose turn it is.
#pragma once

#include <memory>

#include "transport/tcp/connection_base.h"
#include "transport/tcp/initiator_handshake.h"
#include "transport/tcp/message_receiver.h"
#include "transport/tcp/message_sender.h"
#include "transport/tcp/responder_handshake.h"
#include "transport/tcp/teardown.h"

namespace softdat::transport::tcp {

class Connection final : public std::enable_shared_from_this<Connection>, public ConnectionBase {
 public:
  // What dial() is to do. Its holder closes it.
  static SharedConnection prepare(Hub& hub, const Address& remote, const Offer& offer, ChannelSink& sink);
  // Starts to connect; the sink hears the rest.
  void dial();
  // Takes over a socket that came through the port.
  static void welcome(Hub& hub, base::UniqueFd fd, const SharedPort& port);
  // `first` is the side's first state: kDialing or kAwaitingRequest.
  Connection(Hub& hub, State first)
      : ConnectionBase(hub, first),
        terms_{.is_initiator = first == State::kDialing},
        stream_(hub.pool()),
        teardown_(*this, terms_, stream_),
        sender_(*this, terms_, stream_, teardown_),
        receiver_(*this, terms_, stream_, sender_, teardown_),
        initiator_(*this, terms_, receiver_, sender_, teardown_),
        responder_(*this, terms_, receiver_, teardown_) {}

  // For the owner.
  ResponderHandshake& responder() { return responder_; }
  MessageSender& sender() { return sender_; }
  MessageReceiver& receiver() { return receiver_; }
  Teardown& teardown() { return teardown_; }
  Features features() const { return terms_.agreement.features; }
  SharedConnection hold() override { return shared_from_this(); }

  // Watched from now on, if there is a sink.
  void join_tap(Tapper& tapper) { owner().join_tap(tapper, terms_); }

  // For the hub.
  void on_due();
  // Reads what there is; false when there was nothing. The caller holds the connection meanwhile: what
  // comes may end it.
  bool try_read();
  void arm();
  // The host of the peer is silent: ends as an error of the socket would.
  void on_peer_dead();

 private:
  void on_ready(std::uint32_t readiness) override;
  void on_timer() override;
  void on_end() override;
  void on_writable();
  void on_deadline();
  bool read();

  Terms terms_;  // written by the handshakes only
  OutboundStream stream_;
  Teardown teardown_;
  MessageSender sender_;
  MessageReceiver receiver_;
  InitiatorHandshake initiator_;
  ResponderHandshake responder_;
};

}  // namespace softdat::transport::tcp
