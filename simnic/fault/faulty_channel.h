// SPDX-License-Identifier: BSD-2-Clause
// FaultyChannel: stands between a queue pair and its channel, and does to messages what the fault plan says. Messages
// are numbered as in docs/decisions/0002: from the connection's first, each once, however often it is sent again.
// Owned by the baton.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "simnic/fault/alarm.h"
#include "simnic/fault/faulty_carrier.h"
#include "transport/carrier.h"

namespace softdat::simnic::fault {

class FaultyChannel final : public transport::Channel, private transport::ChannelSink {
 public:
  FaultyChannel(FaultyCarrier& carrier, std::uint32_t endpoint, const transport::Address& peer,
                transport::ChannelSink& sink);
  ~FaultyChannel() override;

  void connect(const transport::Offer& request, const ConnectFate& fate);
  // False: the peer has gone, and the sink hears nothing.
  bool accept(transport::InboundRequest& request, const transport::Offer& reply, const ConnectFate& fate);

  // For the carrier.
  const transport::Address& peer() const { return peer_; }
  void hold_until(base::Time time);
  // The adapter has failed.
  void lose();

  transport::SendResult send(const transport::Message& message, transport::PayloadSource* payload) override;
  void flush() override;
  void terminate(const transport::TerminateCode& code) override;
  void close(transport::CloseMode mode) override;
  transport::Features features() const override { return inner_ ? inner_->features() : 0; }
  const char* carrier_name() const override { return inner_ ? inner_->carrier_name() : "faulty"; }

 private:
  // What is done to one message, each time that it is sent.
  struct Marks {
    bool is_refused = false;                    // the peer is to refuse it
    std::optional<transport::Damage> damage{};  // to it on its way
    std::optional<base::Duration> late{};       // its acknowledgement
  };
  // How the connection ends, once so many messages have been acknowledged.
  struct Cut {
    std::uint64_t after = 0;
    bool is_protocol_error = false;
    bool is_within = false;  // of message `after`
  };

  // ChannelSink.
  transport::Placement place(const transport::Arrival& arrival, transport::SliceList& out) override;
  void on_fault(const transport::Arrival& arrival) override;
  void on_message(const transport::Message& message) override;
  std::uint64_t receive_length() override { return is_over_ ? 0 : sink_.receive_length(); }
  void on_writable() override;
  void on_established(const transport::Offer& peer) override;
  void on_refused(transport::Refusal reason, std::span<const std::byte> private_data) override;
  void on_closed(transport::CloseReason reason, const transport::TerminateCode& code) override;

  // Outbound.
  transport::SendResult send_request(const transport::Message& message, transport::PayloadSource* payload);
  transport::SendResult give(const transport::Message& message, transport::PayloadSource* payload);
  transport::SendResult give_marked(const transport::Message& message, transport::PayloadSource* payload,
                                    const Marks& marks);
  transport::SendResult give_torn(const transport::Message& message, transport::PayloadSource* payload);
  transport::SendResult block();
  void decide_request(const transport::Message& message);
  void carry_out(const base::FaultRule& rule, const Point& point);
  void mark_damage(const base::FaultRule& rule, const Point& point);
  void delay(const base::FaultRule& rule, const Point& point);
  bool is_rate_reached(std::uint64_t size);
  void on_taken(const transport::Message& message);
  void rewind(std::uint64_t number);
  void hold_for(base::Duration time);
  void release();

  // Inbound.
  transport::Placement decide_arrival(const transport::Arrival& arrival);
  transport::Placement fail_receive(const base::FaultRule& rule, const transport::Arrival& arrival);
  transport::Placement find_no_receive();
  void ask_again();
  bool push_own_note();
  void on_ack(const transport::Message& message);
  void deliver_late_ack();
  void on_response(const transport::Message& message);
  void on_request_message(const transport::Message& message);
  void note_acknowledged(std::uint64_t count);
  void check_cut();
  void carry_out_cut();
  void begin_inner();
  FaultyQueuePair* queue_pair();
  bool takes_notes() const { return (features() & transport::kNotes) != 0; }

  // Fixed after construction.
  FaultyCarrier& carrier_;
  const std::uint32_t endpoint_;
  const transport::Address peer_;
  transport::ChannelSink& sink_;

  std::unique_ptr<transport::Channel> inner_;  // null: it never came to that
  transport::Offer request_{};
  ConnectFate fate_{};
  bool is_connector_ = false;
  std::uint32_t connection_ = 0;                        // of the endpoint; 0: not established
  bool is_over_ = false;                                // the sink is not called again, unless...
  bool is_torn_ = false;                                // ...it has still to hear of the end
  std::optional<transport::TerminateCode> end_code_{};  // of a Terminate that was sent
  Counts sent_counts_{};
  Counts received_counts_{};

  // Outbound.
  std::uint64_t next_ = 0;           // number of the next request
  std::uint64_t decided_ = 0;        // of those before it the faults are known
  std::uint64_t requests_ = 0;       // that were looked at; immediate data belongs to its write
  std::uint64_t acknowledged_ = 0;   // as the queue pair knows it
  std::deque<std::uint64_t> reads_;  // sent and not answered
  std::map<std::uint64_t, Marks> marks_;
  bool is_midway_ = false;     // the inner channel is blocked with a message
  bool takes_damage_ = false;  // that message's damage is done by the inner channel
  base::Time held_until_{};
  bool is_held_ = false;
  bool owes_writable_ = false;
  std::optional<Cut> cut_;
  std::uint64_t rate_ = 0;     // bytes in a second; 0: no limit
  std::uint64_t charged_ = 0;  // messages before this one have been counted against the rate
  base::Time free_at_{};       // when the rate allows the next message
  std::optional<std::uint64_t> late_ack_;

  // Inbound.
  std::uint64_t arrivals_ = 0;          // number of the next request of the peer's
  std::uint64_t decided_arrivals_ = 0;  // as decided_
  std::uint64_t received_ = 0;          // receives that messages have found
  bool is_dropping_ = false;            // nothing counts until the peer is back at message arrivals_
  std::uint64_t refusals_ = 0;          // for want of a receive, that this message has still to get
  base::Duration refusal_delay_{};
  std::optional<transport::Message> own_note_;  // to be sent at the next border of messages
  std::optional<std::uint64_t> overflow_at_;    // this message's completion is lost
  bool wakes_ = false;                          // spuriously, after the present message

  Alarm hold_alarm_{[this] { release(); }};
  Alarm begin_alarm_;
  Alarm end_alarm_;
  Alarm ack_alarm_{[this] { deliver_late_ack(); }};
  Alarm ask_alarm_{[this] { ask_again(); }};
};

}  // namespace softdat::simnic::fault
