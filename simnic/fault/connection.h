// SPDX-License-Identifier: BSD-2-Clause
// Connection: the state that the parts of a FaultyChannel share: the numbers of the endpoint and of its connection, the
// sink of the queue pair, and the real channel, which it owns.
//
// A member of its FaultyChannel; carrier and sink must outlive it. Owned by the baton.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "simnic/fault/faulty_carrier.h"
#include "transport/channel.h"

namespace softdat::simnic::fault {

class Connection {
 public:
  Connection(FaultyCarrier& carrier, std::uint32_t endpoint, const transport::Address& peer,
             transport::ChannelSink& sink)
      : carrier_(carrier), endpoint_(endpoint), peer_(peer), sink_(sink) {}

  FaultyCarrier& carrier() const { return carrier_; }
  const transport::Address& peer() const { return peer_; }
  transport::ChannelSink& sink() const { return sink_; }
  // Null: the queue pair has been destroyed.
  FaultyQueuePair* queue_pair() const { return carrier_.endpoint(endpoint_).queue_pair; }

  // The real channel. Null: the connection has not come so far, and perhaps never will.
  transport::Channel* inner() const { return inner_.get(); }
  void set_inner(std::unique_ptr<transport::Channel> inner) { inner_ = std::move(inner); }
  // Whether the peer acknowledges requests by notes. REQUIRES: an inner channel.
  bool takes_notes() const { return (inner_->features() & transport::kNotes) != 0; }

  // Called once. Numbers the connection.
  void establish();
  bool is_established() const { return number_ != 0; }

  // The moment at which this connection reaches the operation of that number.
  Point point(base::FaultStage stage, base::FaultOp op, std::uint64_t number) const;

 private:
  FaultyCarrier& carrier_;
  const std::uint32_t endpoint_;
  const transport::Address peer_;
  transport::ChannelSink& sink_;
  std::unique_ptr<transport::Channel> inner_;
  std::uint32_t number_ = 0;  // among those of the endpoint; 0: not established
};

}  // namespace softdat::simnic::fault
