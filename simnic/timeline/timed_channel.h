// SPDX-License-Identifier: BSD-2-Clause
// TimedChannel: stands between a queue pair (or what makes its faults) and the real channel, passes every call on, and
// tells the timeline of messages. REQUIRES what the real channel requires.
#pragma once

#include <memory>

#include "base/timeline_endpoints.h"
#include "simnic/wrapped_channel.h"

namespace softdat::simnic::timeline {

class TimedChannel final : public WrappedChannel {
 public:
  // `own`: the address of the queue pair.
  TimedChannel(base::TimelineEndpoints& timeline, const transport::Address& own, transport::ChannelSink& sink)
      : WrappedChannel(sink), timeline_(timeline), own_(own) {}

  void connect(transport::Carrier& carrier, const transport::Address& remote, const transport::Offer& request);
  // False: the peer has gone, and the sink hears nothing.
  bool accept(transport::InboundRequest& request, const transport::Offer& reply);

  transport::SendResult send(const transport::Message& message, transport::PayloadSource* payload) override;
  bool send_short(const transport::ShortSend& short_send) override;
  void terminate(const transport::TerminateCode& code) override;
  void close(transport::CloseMode mode) override;
  void cut() override;
  bool cut_within(const transport::Message& message, transport::PayloadSource* payload) override;

 private:
  // ChannelSink.
  transport::Placement place(const transport::Arrival& arrival, transport::SliceList& out) override;
  void on_message(const transport::Message& message) override;
  bool on_short_send(const transport::ShortSend& short_send) override;
  void on_established(const transport::Offer& peer) override;
  void on_refused(transport::Refusal reason, std::span<const std::byte> private_data) override;
  void on_closed(transport::CloseReason reason, const transport::TerminateCode& code) override;

  void tell_sent(base::TimelineMessages::Kind kind);

  base::TimelineEndpoints& timeline_;
  const transport::Address own_;
  transport::Address peer_{};  // as the initiator and the responder know it
  bool is_initiator_ = false;
  std::uint64_t sent_ = 0;    // requests, told
  std::uint64_t again_ = 0;   // of the next requests, how many are sent again
  bool is_told_ = false;      // the next request is, as the carrier had no room for it
  bool is_dropping_ = false;  // what arrives
};

}  // namespace softdat::simnic::timeline
