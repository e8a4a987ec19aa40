// SPDX-License-Identifier: BSD-2-Clause
// CapturingChannel: stands between a queue pair (or what makes its faults) and the real channel, passes every call on,
// and captures the messages. Owned by the baton.
#pragma once

#include <memory>

#include "simnic/capture/connection_capture.h"
#include "transport/carrier.h"

namespace softdat::simnic::capture {

class CapturingChannel final : public transport::Channel, private transport::ChannelSink {
 public:
  CapturingChannel(const Place& place, transport::ChannelSink& sink) : capture_(place), sink_(sink) {}

  void connect(transport::Carrier& carrier, const transport::Address& remote, const transport::Offer& request);
  // False: the peer has gone, and the sink hears nothing.
  bool accept(transport::InboundRequest& request, const transport::Offer& reply);

  transport::SendResult send(const transport::Message& message, transport::PayloadSource* payload) override;
  void flush() override { inner_->flush(); }
  void terminate(const transport::TerminateCode& code) override;
  void close(transport::CloseMode mode) override;
  void cut() override;
  bool cut_within(const transport::Message& message, transport::PayloadSource* payload) override;
  bool damage_next(const transport::Damage& damage) override { return inner_->damage_next(damage); }
  transport::Features features() const override { return inner_ ? inner_->features() : 0; }
  const char* carrier_name() const override { return inner_ ? inner_->carrier_name() : "captured"; }

 private:
  // ChannelSink.
  transport::Placement place(const transport::Arrival& arrival, transport::SliceList& out) override;
  void on_fault(const transport::Arrival& arrival) override;
  void on_message(const transport::Message& message) override;
  void on_writable() override { sink_.on_writable(); }
  void on_established(const transport::Offer& peer) override;
  void on_refused(transport::Refusal reason, std::span<const std::byte> private_data) override;
  void on_closed(transport::CloseReason reason, const transport::TerminateCode& code) override;

  ConnectionCapture capture_;
  transport::ChannelSink& sink_;
  std::unique_ptr<transport::Channel> inner_;
};

}  // namespace softdat::simnic::capture
