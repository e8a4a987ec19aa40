// SPDX-License-Identifier: BSD-2-Clause
// InitiatorHandshake: finds the port that serves the id, asks, and obeys the answer. Ends with both directions started,
// or with a refusal that tells what the best of the ports has answered. Baton only; errors by Teardown, or
// std::bad_alloc.
#pragma once

#include <cstdint>
#include <vector>

#include "transport/tcp/connection_base.h"
#include "transport/tcp/message_receiver.h"
#include "transport/tcp/message_sender.h"
#include "transport/tcp/mpa_frame_reader.h"
#include "transport/tcp/teardown.h"

namespace softdat::transport::tcp {

class InitiatorHandshake {
 public:
  InitiatorHandshake(ConnectionBase& base, Terms& terms, MessageReceiver& receiver, MessageSender& sender,
                     Teardown& teardown)
      : base_(base), terms_(terms), receiver_(receiver), sender_(sender), teardown_(teardown) {}

  void prepare(const Address& remote, const Offer& offer);
  // REQUIRES: prepared and enlisted. The sink hears of a refusal from a turn, never from within this.
  void dial();
  // TCP has connected, or failed to.
  void on_dialed();
  // Reads the reply; false: there was nothing.
  bool read();
  // No other port of this host can do better.
  void on_host_dead();

 private:
  void on_reply(const MpaFrame& reply);
  void begin();
  void try_elsewhere(Refusal reason);

  ConnectionBase& base_;
  Terms& terms_;
  MessageReceiver& receiver_;
  MessageSender& sender_;
  Teardown& teardown_;
  std::vector<std::uint16_t> ports_;  // to try, the last one first
  Refusal best_refusal_ = Refusal::kNoListener;
  MpaFrame request_{};
  MpaFrameReader reader_;
};

}  // namespace softdat::transport::tcp
