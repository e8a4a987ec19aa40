// SPDX-License-Identifier: BSD-2-Clause
// LiveTap: shows one connection to a live capture, at the carrier's own channel. Owned by the channel; with the baton.
#pragma once

#include <memory>
#include <utility>

#include "simnic/capture/connection_capture.h"
#include "simnic/capture/live.h"
#include "transport/tap.h"

namespace softdat::simnic::capture {

class LiveTap final : public transport::ChannelTap {
 public:
  // Throws std::bad_alloc. `carrier_name` is a constant.
  LiveTap(SharedPlace place, const char* carrier_name, transport::ChannelSink& owner)
      : place_(std::move(place)), capture_(*place_), carrier_name_(carrier_name), owner_(owner) {}

  ConnectionCapture& capture() { return capture_; }
  // The connection has been there for some time: shows a handshake without private data.
  void begin_in_the_middle(const transport::ConnectionFacts& facts);

  transport::ChannelSink& owner() override { return owner_; }
  void before_send() override { before_ = now(); }
  void on_sent(const transport::Message& message, transport::PayloadSource* payload) override {
    capture_.on_sent(message, payload, before_);
  }
  void on_terminate(const transport::TerminateCode& code) override { capture_.on_terminate(code); }
  void on_close() override { capture_.on_close(); }
  void on_cut() override { capture_.on_cut(); }

 private:
  // ChannelSink.
  transport::Placement place(const transport::Arrival& arrival, transport::SliceList& out) override;
  void on_fault(const transport::Arrival& arrival) override;
  void on_message(const transport::Message& message) override;
  void end_short_sends() override { owner_.end_short_sends(); }
  std::uint64_t receive_length() override { return owner_.receive_length(); }
  void on_writable() override { owner_.on_writable(); }
  void on_established(const transport::Offer& peer) override;
  void on_refused(transport::Refusal reason, std::span<const std::byte> private_data) override;
  void on_closed(transport::CloseReason reason, const transport::TerminateCode& code) override;

  const SharedPlace place_;
  ConnectionCapture capture_;
  const char* const carrier_name_;
  transport::ChannelSink& owner_;
  Stamp before_ = 0;
};

}  // namespace softdat::simnic::capture
