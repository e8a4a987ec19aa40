// SPDX-License-Identifier: BSD-2-Clause
// Teardown: how a connection ends: by its owner, by the peer, by the network. It alone gives the owner's sink the last
// word, on_closed() or on_refused(), and at most once, because it detaches the sink first. Baton only.
//
// A connection that ends by our will drains: its last bytes go out, then our FIN; what comes is dropped until the
// peer's FIN, so that nothing of ours is lost to a reset. All others end at once.
#pragma once

#include <optional>
#include <span>

#include "transport/channel.h"
#include "transport/tcp/connection_base.h"
#include "transport/tcp/outbound_stream.h"

namespace softdat::transport::tcp {

class Teardown {
 public:
  Teardown(ConnectionBase& base, const Terms& terms, OutboundStream& stream)
      : base_(base), terms_(terms), stream_(stream) {}

  // By the owner, as transport::Channel promises.
  void close(CloseMode mode);
  void cut();

  // Sends a Terminate and drains. The sink, unless detached, hears of a protocol error; of a refusal from
  // refuse_reply(), with which an initiator ends what it was granted.
  void terminate(const Terminate& terminate);
  void refuse_reply(const Terminate& terminate);
  // These end at once, and the sink hears why.
  void end_with(CloseReason reason, const TerminateCode& code);
  void lose() { end_with(CloseReason::kLost, {}); }
  void give_up(Refusal reason, std::span<const std::byte> private_data);

  // The same from the next turn, which calls carry_out_verdict(). Until then what the peer sent before the end still
  // counts: its bye may be among it. Nothing is sent any more.
  void lose_later();
  void give_up_later(Refusal reason);
  bool has_verdict() const { return is_lost_ || refusal_.has_value(); }
  bool is_lost() const { return is_lost_; }
  // Does nothing without one.
  void carry_out_verdict();

  // Tells nobody.
  void drain();
  // While draining: there is room to write, or something to read (false: there was nothing), or the time is over.
  void continue_draining();
  bool read_and_drop();
  void end_draining();
  // Closes the socket, because the carrier is about to go. Blocks for what was sent before: until `orderly` after a
  // close of that mode, else until `prompt`.
  void finish(base::Time orderly, base::Time prompt);

 private:
  void tell_closed(ChannelSink* sink, CloseReason reason, const TerminateCode& code);
  void bring_out(base::Time deadline);

  ConnectionBase& base_;
  const Terms& terms_;
  OutboundStream& stream_;
  bool is_prompt_ = false;  // nobody waits for its last bytes
  // The verdict; at most one is set.
  bool is_lost_ = false;
  std::optional<Refusal> refusal_;  // while connecting
};

}  // namespace softdat::transport::tcp
