// SPDX-License-Identifier: BSD-2-Clause
// TimedChannel: stands between a queue pair (or what makes its faults) and the real channel, passes every call on, and
// tells the timeline of messages. REQUIRES what the real channel requires.
#pragma once

#include <memory>

#include "base/timeline.h"
#include "transport/carrier.h"

namespace softdat::simnic::timeline {

class TimedChannel final : public transport::Channel, private transport::ChannelSink {
 public:
  // `own`: the address of the queue pair.
  TimedChannel(base::Timeline& timeline, const transport::Address& own, transport::ChannelSink& sink)
      : timeline_(timeline), own_(own), sink_(sink) {}

  void connect(transport::Carrier& carrier, const transport::Address& remote, const transport::Offer& request);
  // False: the peer has gone, and the sink hears nothing.
  bool accept(transport::InboundRequest& request, const transport::Offer& reply);

  transport::SendResult send(const transport::Message& message, transport::PayloadSource* payload) override;
  bool takes_briefs() const override { return inner_ != nullptr && inner_->takes_briefs(); }
  bool send_brief(const transport::Brief& brief) override;
  void flush() override { inner_->flush(); }
  void terminate(const transport::TerminateCode& code) override;
  void close(transport::CloseMode mode) override;
  void cut() override;
  bool cut_within(const transport::Message& message, transport::PayloadSource* payload) override;
  bool damage_next(const transport::Damage& damage) override { return inner_->damage_next(damage); }
  transport::Features features() const override { return inner_ ? inner_->features() : 0; }
  std::shared_ptr<transport::PeerResources> peer_resources() const override { return inner_->peer_resources(); }
  const char* carrier_name() const override { return inner_ ? inner_->carrier_name() : "timed"; }

 private:
  // ChannelSink.
  transport::Placement place(const transport::Arrival& arrival, transport::SliceList& out) override;
  void on_fault(const transport::Arrival& arrival) override { sink_.on_fault(arrival); }
  void on_message(const transport::Message& message) override;
  void end_briefs() override { sink_.end_briefs(); }
  bool on_brief(const transport::Brief& brief) override;
  void on_writable() override { sink_.on_writable(); }
  void on_established(const transport::Offer& peer) override;
  void on_refused(transport::Refusal reason, std::span<const std::byte> private_data) override;
  void on_closed(transport::CloseReason reason, const transport::TerminateCode& code) override;

  void tell_sent(base::Timeline::Kind kind);

  base::Timeline& timeline_;
  const transport::Address own_;
  transport::ChannelSink& sink_;
  std::unique_ptr<transport::Channel> inner_;
  transport::Address peer_{};  // as the initiator and the responder know it
  bool is_initiator_ = false;
  std::uint64_t sent_ = 0;    // requests, told
  std::uint64_t again_ = 0;   // of the next requests, how many are sent again
  bool is_told_ = false;      // the next request is, as the carrier had no room for it
  bool is_dropping_ = false;  // what arrives
};

}  // namespace softdat::simnic::timeline
