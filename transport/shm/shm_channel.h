// SPDX-License-Identifier: BSD-2-Clause
// ShmChannel: one end of a connection over a link, as the queue pair sees it. Its parts: how it came to be (Opening),
// what it receives (Inbound) and what it sends (Outbound); the ring and the connection's number are the link's.
// Called with the baton, but for send_short(), which its owner calls with or without.
#pragma once

#include <boost/intrusive/list.hpp>
#include <cstdint>
#include <memory>
#include <span>

#include "transport/channel.h"
#include "transport/shm/inbound.h"
#include "transport/shm/opening.h"
#include "transport/shm/outbound.h"
#include "transport/shm/record.h"
#include "transport/tap.h"

namespace softdat::transport::shm {

class Link;
struct CarrierParts;

// A channel stands in at most one queue at a time: of a connector (waiting for the link), of a link
// (waiting for room), or of the carrier's refusals. Its destructor takes it out.
using QueueHook = boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

class ShmChannel final : public Channel, public QueueHook {
 public:
  ShmChannel(CarrierParts& carrier, ChannelSink& sink);
  ~ShmChannel() override;

  SendResult send(const Message& message, PayloadSource* payload) override;
  ShortSends short_sends() const override { return ShortSends::kWithoutBaton; }
  bool send_short(const ShortSend& short_send) override;
  void flush() override;
  void terminate(const TerminateCode& code) override;
  void close(CloseMode mode) override;
  Features features() const override { return opening_.features(); }
  std::shared_ptr<PeerResources> peer_resources() const override;
  const char* carrier_name() const override { return "shm"; }

  // For the carrier and the link.
  Opening& opening() { return opening_; }
  Inbound& inbound() { return inbound_; }
  ChannelState state() const { return status_.state; }
  // The channel joins a link, under this number.
  void join(Link& link, std::uint32_t number, ChannelState state);
  // The link has nothing more to do with this channel.
  void leave();
  // Its question goes elsewhere.
  void ask_again() { status_.state = ChannelState::kContacting; }

  // The peer's answer, and its confirmation. False if the peer had no right to send it now.
  bool on_accept(const Offer& reply);
  bool on_confirm();
  // The channel has left its link, for this reason; tells the sink.
  void on_end(CloseReason reason, const TerminateCode& code, Refusal refusal);
  void on_refusal(const RefusalNotice& notice);
  void on_room() { status_.sink->on_writable(); }

  // Watched from now on, as far as the tapper can; null: no longer.
  void tap(Tapper* tapper);

  boost::intrusive::list_member_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> carrier_hook;

 private:
  void become_open();
  void finish(RecordKind kind, std::span<const std::byte> bytes);

  CarrierParts& carrier_;
  ChannelStatus status_;
  bool wants_to_write_ = false;  // send() was tried too early; owes an on_writable()
  Outbound outbound_;
  Inbound inbound_{status_};
  TapPoint tap_;
  Opening opening_;
};

using AllChannels = boost::intrusive::list<
    ShmChannel,
    boost::intrusive::member_hook<ShmChannel, decltype(ShmChannel::carrier_hook), &ShmChannel::carrier_hook>,
    boost::intrusive::constant_time_size<false>>;
using ChannelQueue = boost::intrusive::list<ShmChannel, boost::intrusive::constant_time_size<false>>;

}  // namespace softdat::transport::shm
