// SPDX-License-Identifier: BSD-2-Clause
// FaultyChannel: stands between a queue pair and its channel, and does to connection and messages what the fault plan
// says.
//
// It makes the connection itself, as its ConnectFate says. Its parts: the two neighbours (Connection), the end of the
// connection (ConnectionEnd), the way out (Outlet), what is done to requests that the queue pair sends (FaultySender)
// and to those that it receives (FaultyReceiver).
//
// Ownership: as of every channel; the carrier must outlive it. Owned by the baton.
#pragma once

#include <cstdint>
#include <span>

#include "simnic/fault/alarm.h"
#include "simnic/fault/connection.h"
#include "simnic/fault/connection_end.h"
#include "simnic/fault/faulty_carrier.h"
#include "simnic/fault/faulty_receiver.h"
#include "simnic/fault/faulty_sender.h"
#include "simnic/fault/outlet.h"
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
  const transport::Address& peer() const { return connection_.peer(); }
  void hold_until(base::Time time) { outlet_.hold_until(time); }
  // The adapter has failed.
  void lose();

  transport::SendResult send(const transport::Message& message, transport::PayloadSource* payload) override;
  void flush() override;
  void terminate(const transport::TerminateCode& code) override;
  void close(transport::CloseMode mode) override;
  transport::Features features() const override;
  const char* carrier_name() const override;

 private:
  // ChannelSink.
  transport::Placement place(const transport::Arrival& arrival, transport::SliceList& out) override;
  void on_fault(const transport::Arrival& arrival) override;
  void on_message(const transport::Message& message) override;
  std::uint64_t receive_length() override { return end_.is_over() ? 0 : connection_.sink().receive_length(); }
  void on_writable() override { outlet_.on_writable(); }
  void on_established(const transport::Offer& peer) override;
  void on_refused(transport::Refusal reason, std::span<const std::byte> private_data) override;
  void on_closed(transport::CloseReason reason, const transport::TerminateCode& code) override;

  void begin_inner();
  void begin_inner_at(base::Time time);
  void on_begin_alarm();

  Connection connection_;
  ConnectionEnd end_{connection_};
  Outlet outlet_{connection_, end_};
  FaultySender sender_{connection_, end_, outlet_};
  FaultyReceiver receiver_{connection_, end_, outlet_};

  transport::Offer request_{};
  ConnectFate fate_{};
  bool is_connector_ = false;
  Alarm begin_alarm_{[this] { on_begin_alarm(); }};
};

}  // namespace softdat::simnic::fault
