// SPDX-License-Identifier: BSD-2-Clause
// NastyChannel: stands between a queue pair and its channel, and does to messages what DAT allows and friendly adapters
// do not do. The order of messages stays. What has arrived is kept in memory of its own until it is handed on.
// Messages are numbered as in docs/decisions/0002: from the connection's first, each once, however often it is sent
// again. Owned by the baton.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "simnic/nasty/nasty_carrier.h"
#include "transport/carrier.h"

namespace softdat::simnic::nasty {

class NastyChannel final : public transport::Channel, private transport::ChannelSink {
 public:
  // Throws std::bad_alloc.
  NastyChannel(NastyCarrier& carrier, std::uint32_t endpoint, transport::ChannelSink& sink);
  ~NastyChannel() override;

  void connect(const transport::Address& remote, const transport::Offer& request);
  // False: the peer has gone, and the sink hears nothing.
  bool accept(transport::InboundRequest& request, const transport::Offer& reply);

  // For the carrier: hands on what is due. Returns how many things.
  std::size_t proceed();
  bool holds_something() const { return source_hold_ || ack_hold_ || arrival_hold_; }
  // When the first hold ends, if looks do not end it before; kNever without a hold.
  base::Time next_end() const;

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
  // A whole message that has not been handed on.
  struct Arrived {
    transport::Message message{};
    std::vector<std::byte> bytes{};
    Inbound fate{};
    bool is_begun = false;  // its first bytes are placed
  };

  // ChannelSink.
  transport::Placement place(const transport::Arrival& arrival, transport::SliceList& out) override;
  void on_fault(const transport::Arrival& arrival) override;
  void on_message(const transport::Message& message) override;
  void on_writable() override;
  void on_established(const transport::Offer& peer) override;
  void on_refused(transport::Refusal reason, std::span<const std::byte> private_data) override;
  void on_closed(transport::CloseReason reason, const transport::TerminateCode& code) override;

  // Outbound.
  void decide_request();

  // Inbound.
  transport::Placement begin_stream(const transport::Arrival& arrival, transport::SliceList& out);
  void tell_of_part();
  void on_note(const transport::Message& message);
  void on_ack(std::uint64_t count);
  void hand_on_ack();
  Inbound decide_inbound(transport::Opcode opcode);
  bool keep(const transport::Message& message, const Inbound& fate);
  void begin_hold(unsigned looks);
  std::size_t proceed_arrivals();
  void hand_on_all();
  void hand_on(const Arrived& arrived);
  void place_first(const Arrived& arrived);
  bool place_all(const Arrived& arrived);
  void scribble(const Arrived& arrived, std::uint64_t from, std::uint64_t to);
  bool is_over() const { return is_over_; }  // asked anew after each call of the sink

  // Fixed after construction.
  NastyCarrier& carrier_;
  const std::uint32_t endpoint_;
  transport::ChannelSink& sink_;

  std::unique_ptr<transport::Channel> inner_;
  Where where_{};
  bool is_connector_ = false;
  bool is_over_ = false;  // the sink is not called again

  // Outbound.
  std::uint64_t next_ = 0;     // number of the next request
  std::uint64_t decided_ = 0;  // of those before it the fates are known
  std::optional<Hold> source_hold_;
  std::map<std::uint64_t, unsigned> late_;  // looks by which the completion of a request is late
  std::uint64_t acknowledged_ = 0;          // as the queue pair knows it
  std::uint64_t late_ack_ = 0;              // what it does not know yet, while ack_hold_
  std::optional<Hold> ack_hold_;

  // Inbound.
  std::uint64_t arrivals_ = 0;          // number of the next request of the peer's
  std::uint64_t decided_arrivals_ = 0;  // the highest that there has been
  std::uint64_t answers_ = 0;           // the same, of its answers
  std::vector<std::byte> current_;      // payload of the message that is arriving
  // The message that is arriving. Empty before its first byte.
  std::optional<transport::Message> arriving_;
  bool is_streaming_ = false;         // that message goes to the sink unkept
  std::deque<Arrived> arrived_;       // oldest first
  std::size_t kept_ = 0;              // bytes in it
  std::optional<Hold> arrival_hold_;  // of the oldest; none: there is none
};

}  // namespace softdat::simnic::nasty
