// SPDX-License-Identifier: BSD-2-Clause
// NastyChannel: stands between a queue pair and its channel, and does to messages what DAT allows and friendly adapters
// do not do. The order of messages stays.
//
// Its parts: requests that are sent (NastySender), their acknowledgements (LateAcks), and what is received
// (NastyReceiver).
//
// Ownership: as of every channel; the carrier must outlive it. Owned by the baton.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "simnic/nasty/channel_context.h"
#include "simnic/nasty/late_acks.h"
#include "simnic/nasty/nasty_carrier.h"
#include "simnic/nasty/nasty_receiver.h"
#include "simnic/nasty/nasty_sender.h"
#include "transport/carrier.h"

namespace softdat::simnic::nasty {

class NastyChannel final : public transport::Channel, private transport::ChannelSink {
 public:
  // Throws std::bad_alloc.
  NastyChannel(NastyCarrier& carrier, std::uint32_t endpoint, transport::ChannelSink& sink);

  void connect(const transport::Address& remote, const transport::Offer& request);
  // False: the peer has gone, and the sink hears nothing.
  bool accept(transport::InboundRequest& request, const transport::Offer& reply);

  transport::SendResult send(const transport::Message& message, transport::PayloadSource* payload) override;
  void flush() override;
  void terminate(const transport::TerminateCode& code) override;
  void close(transport::CloseMode mode) override;
  void cut() override;
  bool cut_within(const transport::Message& message, transport::PayloadSource* payload) override;
  bool damage_next(const transport::Damage& damage) override { return inner_->damage_next(damage); }
  transport::Features features() const override { return inner_ ? inner_->features() : 0; }
  const char* carrier_name() const override { return inner_ ? inner_->carrier_name() : "nasty"; }

 private:
  // ChannelSink.
  transport::Placement place(const transport::Arrival& arrival, transport::SliceList& out) override;
  void on_fault(const transport::Arrival& arrival) override;
  void on_message(const transport::Message& message) override;
  void on_writable() override { sender_.on_writable(); }
  void on_established(const transport::Offer& peer) override;
  void on_refused(transport::Refusal reason, std::span<const std::byte> private_data) override;
  void on_closed(transport::CloseReason reason, const transport::TerminateCode& code) override;

  // Ends the connection. False: it was over before.
  bool end() { return !std::exchange(context_.is_over, true); }

  const std::uint32_t endpoint_;
  ChannelContext context_;
  LateAcks acks_{context_};
  NastySender sender_{context_, acks_};
  NastyReceiver receiver_{context_};
  std::unique_ptr<transport::Channel> inner_;  // null: the connection has not come so far
  bool is_connector_ = false;
};

}  // namespace softdat::simnic::nasty
