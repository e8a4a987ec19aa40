// SPDX-License-Identifier: BSD-2-Clause
// CapturingChannel: stands between a queue pair (or what makes its faults) and the real channel, passes every call on,
// and captures the messages. Owned by the baton.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "simnic/capture/stream.h"
#include "transport/carrier.h"

namespace softdat::simnic::capture {

// The port of the endpoint that makes the offer. One for datagrams has a number instead.
std::uint16_t port_of(const transport::Offer& offer);
// The two sides of a connection, as a capture shows them.
transport::Address initiator_of(const transport::Offer& request);
transport::Address responder_of(const transport::Address& address, const transport::Offer& request);

class CapturingChannel final : public transport::Channel, private transport::ChannelSink {
 public:
  CapturingChannel(const Place& place, transport::ChannelSink& sink) : place_(place), sink_(sink) {}

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
  using Way = Stream::Way;

  // ChannelSink.
  transport::Placement place(const transport::Arrival& arrival, transport::SliceList& out) override;
  void on_fault(const transport::Arrival& arrival) override;
  void on_message(const transport::Message& message) override;
  void on_writable() override { sink_.on_writable(); }
  void on_established(const transport::Offer& peer) override;
  void on_refused(transport::Refusal reason, std::span<const std::byte> private_data) override;
  void on_closed(transport::CloseReason reason, const transport::TerminateCode& code) override;

  // The part of a message that has arrived and is not captured yet: at most one FPDU.
  struct Arrived {
    std::uint32_t offset = 0;  // in the message
    std::size_t length = 0;
    std::size_t known = 0;           // bytes of it from the start that were seen
    std::vector<std::byte> bytes{};  // kMostPayload of them, once needed
    // What the carrier copies at present: from this byte of the message on, into these slices.
    std::uint64_t placing_at = 0;
    std::vector<transport::Slice> placing{};

    void start() {
      offset = 0;
      length = known = 0;
      placing_at = 0;
      placing.clear();
    }
  };

  void capture_established(const transport::Offer& peer);
  void capture_refused(transport::Refusal reason, std::span<const std::byte> private_data);
  void capture_closed(transport::CloseReason reason, const transport::TerminateCode& code);
  void capture_message(const transport::Message& message);
  void take_placed(std::uint64_t until, const transport::Message& message);
  void append(const std::byte* from, std::size_t length, const transport::Message& message);
  void put_arrived(const transport::Message& message);
  // Runs `body`. Counts a packet as dropped if `body` runs out of memory.
  template <typename Body>
  void capture(Body body);

  const Place& place_;
  transport::ChannelSink& sink_;
  std::unique_ptr<transport::Channel> inner_;
  std::optional<Stream> stream_;  // from the handshake on
  bool is_initiator_ = false;
  transport::Address remote_{};  // as connect() had it
  transport::Offer request_{};
  transport::Offer reply_{};  // the responder's
  Stamp asked_ = 0;
  Arrived arrived_{};
};

}  // namespace softdat::simnic::capture
