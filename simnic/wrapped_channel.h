// SPDX-License-Identifier: BSD-2-Clause
// WrappedChannel: stands between a queue pair and the real channel. It passes on every call of either that its derived
// class does not override.
#pragma once

#include <memory>

#include "transport/carrier.h"

namespace softdat::simnic {

// REQUIRES of every call what the real channel requires. The sink may destroy this channel in each call that the real
// channel allows it in.
class WrappedChannel : public transport::Channel, protected transport::ChannelSink {
 public:
  explicit WrappedChannel(transport::ChannelSink& sink) : sink_(sink) {}

  // One of these is the first call, and makes the real channel.
  void connect(transport::Carrier& carrier, const transport::Address& remote, const transport::Offer& request) {
    inner_ = carrier.connect(remote, request, *this);
  }
  // False: the peer has gone, and the sink hears nothing.
  bool accept(transport::InboundRequest& request, const transport::Offer& reply) {
    inner_ = request.accept(reply, *this);
    return inner_ != nullptr;
  }

  transport::SendResult send(const transport::Message& message, transport::PayloadSource* payload) override {
    return inner_->send(message, payload);
  }
  transport::ShortSends short_sends() const override {
    return inner_ ? inner_->short_sends() : transport::ShortSends::kNone;
  }
  bool send_short(const transport::ShortSend& short_send) override { return inner_->send_short(short_send); }
  void flush() override { inner_->flush(); }
  void terminate(const transport::TerminateCode& code) override { inner_->terminate(code); }
  void close(transport::CloseMode mode) override { inner_->close(mode); }
  void cut() override { inner_->cut(); }
  bool cut_within(const transport::Message& message, transport::PayloadSource* payload) override {
    return inner_->cut_within(message, payload);
  }
  bool damage_next(const transport::Damage& damage) override { return inner_->damage_next(damage); }
  transport::Features features() const override { return inner_ ? inner_->features() : 0; }
  std::shared_ptr<transport::PeerResources> peer_resources() const override { return inner_->peer_resources(); }
  const char* carrier_name() const override { return inner_ ? inner_->carrier_name() : "wrapped"; }

 protected:
  // ChannelSink.
  transport::Placement place(const transport::Arrival& arrival, transport::SliceList& out) override {
    return sink_.place(arrival, out);
  }
  void on_fault(const transport::Arrival& arrival) override { sink_.on_fault(arrival); }
  void on_message(const transport::Message& message) override { sink_.on_message(message); }
  void end_short_sends() override { sink_.end_short_sends(); }
  bool on_short_send(const transport::ShortSend& short_send) override { return sink_.on_short_send(short_send); }
  std::uint64_t receive_length() override { return sink_.receive_length(); }
  void on_writable() override { sink_.on_writable(); }
  void on_established(const transport::Offer& peer) override { sink_.on_established(peer); }
  void on_refused(transport::Refusal reason, std::span<const std::byte> private_data) override {
    sink_.on_refused(reason, private_data);
  }
  void on_closed(transport::CloseReason reason, const transport::TerminateCode& code) override {
    sink_.on_closed(reason, code);
  }

  transport::ChannelSink& sink_;
  std::unique_ptr<transport::Channel> inner_;  // null until connect() or accept() returns
};

}  // namespace softdat::simnic
