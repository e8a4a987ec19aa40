// SPDX-License-Identifier: BSD-2-Clause
// Connection: one TCP connection from its first packet to its last, whichever side it is on. It
// outlives the Channel or InboundRequest through which its owner sees it: the hub holds it until
// the socket is gone. Baton only. Any call of the owner's sinks may close it, so state_ is looked
// at again after each.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/unique_fd.h"
#include "transport/channel.h"
#include "transport/offer.h"
#include "transport/reactor.h"
#include "transport/tap.h"
#include "transport/tcp/connection_state.h"
#include "transport/tcp/hub.h"
#include "transport/tcp/inbound.h"
#include "transport/tcp/negotiation.h"
#include "transport/tcp/outbound.h"
#include "transport/tcp/port_state.h"

namespace softdat::transport::tcp {

class Connection final : public std::enable_shared_from_this<Connection>,
                         public HubEntry,
                         public HalfOpen::Entry,
                         private ReadinessSink,
                         private InboundSink,
                         private base::Timer {
 public:
  // What dial() is to do. Its holder closes it.
  static SharedConnection prepare(Hub& hub, const Address& remote, const Offer& offer, ChannelSink& sink);
  // Starts to connect; the sink hears the rest.
  void dial();
  // Takes over a socket that came through the port.
  static void welcome(Hub& hub, base::UniqueFd fd, const SharedPort& port);
  explicit Connection(Hub& hub);
  ~Connection();

  // What transport::Channel promises.
  SendResult send(const Message& message, PayloadSource* payload);
  void flush();
  void terminate(const TerminateCode& code);
  void close(CloseMode mode);
  void cut();
  void cut_within(const Message& message, PayloadSource* payload);
  void damage_next(const Damage& damage) { outbound_.damage_next(damage); }
  Features features() const { return agreement_.features; }

  // Watched from now on, if there is a sink; and no longer.
  void join_tap(Tapper& tapper);
  void end_tap() { tap_.close(sink_); }
  // The owner rejects the peer's request.
  void note_reject(std::span<const std::byte> private_data);

  // What transport::InboundRequest promises.
  bool is_requested() const { return state_ == State::kRequested; }
  const Offer& peer_offer() const { return peer_; }
  bool accept(const Offer& reply, ChannelSink& sink);
  void refuse(Verdict verdict, const Offer& answer);

  // For the hub.
  State state() const { return state_; }
  void on_due();
  // Reads what there is; false when there was nothing. The caller holds the connection meanwhile: what
  // comes may end it.
  bool try_read();
  void arm();
  // The socket goes at once, and nobody is told.
  void abandon();
  // The same, and whoever has the channel hears that it is lost.
  void lose() { end_with(CloseReason::kLost, {}); }
  // The host of the peer is silent: ends as an error of the socket would.
  void on_peer_dead();
  // Closes the socket, because the carrier is about to go. Blocks for what was sent before: until `orderly` after a
  // close of that mode, else until `prompt`.
  void finish(base::Time orderly, base::Time prompt);

 private:
  enum class Side { kInitiator, kResponder };

  // Readiness and time.
  void on_ready(std::uint32_t readiness) override;
  void on_timer() override;
  void heed_readiness(std::uint32_t readiness);
  void heed_deadline();
  bool open_watch();
  void close_socket();
  void want_write();
  void on_writable();
  void advance(Event event);
  void end();

  // The initiator's handshake.
  void dial_next();
  void on_dialed();
  void on_reply(const MpaFrame& reply);
  void begin_as_initiator();
  void refuse_reply(const TerminateCode& code);
  void try_elsewhere(Refusal reason);
  void give_up(Refusal reason, std::span<const std::byte> private_data);

  // The responder's.
  void await_request(base::UniqueFd fd, const SharedPort& port);
  void on_request(const MpaFrame& request);
  bool look_whether_gone();
  void note_answered();

  // Either's.
  bool read_frame(MpaFrameKind kind);
  void on_frame(MpaFrameKind kind);
  void on_frame_broken(Refusal reason);
  // The service's own port, not one of the sequence that its id shares with others.
  bool is_port_of_service() const { return remote_.port == offer_.service_id; }
  void start_streams();
  void release_hold();
  void nudge();
  void warn_of_neighbour() const;
  void open();

  // Messages.
  Placement place(const Arrival& arrival, SliceList& out) override;
  void on_fault(const Arrival& arrival) override;
  void on_message(const Message& message) override;
  void on_ready_to_receive(const Message& message) override;
  bool is_receiving() const override { return is_receiving_state(state_); }
  bool heed_first_sign();
  void answer_empty_read(const Message& message);
  bool read_what_comes();
  bool read_stream();
  void heed(const ReadOutcome& outcome);
  void on_stream_end();
  SendResult send_message(const Message& message, PayloadSource* payload);
  SendResult after_write(WriteStatus status);

  // Ends.
  void fail_later(CloseReason reason);
  void end_with(CloseReason reason, const TerminateCode& code);
  void terminate_with(const TerminateCode& code, CloseReason reason);
  void tell_closed(ChannelSink* sink, CloseReason reason, const TerminateCode& code);
  void drain();
  void continue_draining();
  bool read_and_drop();
  void bring_out(base::Time deadline);
  bool has_unsent() const;
  void reset_at_once();
  void end_with_reset();

  // Fixed after construction.
  Hub& hub_;

  // Fixed once the side is known.
  Side side_ = Side::kInitiator;
  Address remote_{};  // with the port being dialed
  Offer offer_{};     // ours
  SharedPort port_;

  // Owned by the baton.
  State state_ = State::kDialing;
  ChannelSink* sink_ = nullptr;
  TapPoint tap_;
  base::UniqueFd fd_;
  std::unique_ptr<Reactor::Watch> watch_;
  bool is_listed_unarmed_ = false;
  bool is_deferred_ = false;
  bool is_write_wanted_ = false;        // the reactor will tell when there is room to write
  bool is_prompt_ = false;              // nobody waits for its last bytes
  bool is_blocked_ = false;             // owes its sink an on_writable()
  bool is_established_ = false;         // its sink has heard on_established()
  bool has_peer_ended_ = false;         // its FIN has come while we still have something to say
  int nudges_ = 0;                      // empty Writes that were to wake a silent foreign responder
  bool is_unanswered_ = false;          // counts among its port's unanswered requests
  std::optional<CloseReason> verdict_;  // what the next turn tells the sink
  std::optional<Refusal> refusal_;      // the same, while connecting
  Refusal best_refusal_ = Refusal::kNoListener;
  std::vector<std::uint16_t> ports_;  // to try, the last one first
  std::vector<std::byte> frame_;      // what has come of an MPA frame
  MpaFrame request_{};                // ours, or the peer's
  Offer peer_{};
  Agreement agreement_{};
  Inbound inbound_;
  Outbound outbound_;

  friend class Hub;  // is_listed_unarmed_, is_deferred_, fd_
};

}  // namespace softdat::transport::tcp
