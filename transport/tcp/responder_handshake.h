// SPDX-License-Identifier: BSD-2-Clause
// ResponderHandshake: hears the request, and gives the consumer's answer. Counts among its port's unanswered requests
// exactly while the state is kRequested. Baton only. All but peer_offer(), is_requested() and note_answered() may throw
// std::bad_alloc.
#pragma once

#include <memory>
#include <span>

#include "transport/carrier.h"
#include "transport/tcp/connection_base.h"
#include "transport/tcp/message_receiver.h"
#include "transport/tcp/mpa_frame_reader.h"
#include "transport/tcp/port_state.h"
#include "transport/tcp/teardown.h"

namespace softdat::transport::tcp {

class ResponderHandshake {
 public:
  ResponderHandshake(ConnectionBase& base, Terms& terms, MessageReceiver& receiver, Teardown& teardown)
      : base_(base), terms_(terms), receiver_(receiver), teardown_(teardown) {}

  // Takes over a socket that came through the port. False: it cannot be watched, and the connection is of no use.
  bool start(base::UniqueFd fd, const SharedPort& port);
  // Reads the request; false: there was nothing. Once the state is kRequested, show() gives it to the port's sink.
  bool read();
  void show(std::unique_ptr<InboundRequest> request) { port_->sink->on_request(std::move(request)); }
  // Before the answer: ends the connection if the peer has gone.
  bool look_whether_gone();
  // The request counts no longer.
  void note_answered();

  // As transport::InboundRequest promises.
  bool is_requested() const { return base_.state() == State::kRequested; }
  const Offer& peer_offer() const { return terms_.peer; }
  bool accept(const Offer& reply, ChannelSink& sink);
  void reject(std::span<const std::byte> private_data);
  // Does nothing after an answer.
  void refuse(Verdict verdict, const Offer& answer);

 private:
  void on_request(const MpaFrame& request);
  void count_refused();

  ConnectionBase& base_;
  Terms& terms_;
  MessageReceiver& receiver_;
  Teardown& teardown_;
  SharedPort port_;
  MpaFrame request_{};
  MpaFrameReader reader_;
  bool is_unanswered_ = false;  // counts among its port's unanswered requests
};

}  // namespace softdat::transport::tcp
