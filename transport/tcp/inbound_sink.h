// SPDX-License-Identifier: BSD-2-Clause
// InboundSink: hears what the bytes of a connection mean. InboundRules: what both sides agreed on. Baton only.
#pragma once

#include "transport/channel.h"
#include "transport/message.h"

namespace softdat::transport::tcp {

// Any call but on_short_send() may close the connection; is_receiving() tells.
class InboundSink {
 public:
  // As ChannelSink::place; not asked once is_receiving() is false.
  virtual Placement place(const Arrival& arrival, SliceList& out) = 0;
  // As ChannelSink::on_fault.
  virtual void on_fault(const Arrival& arrival) = 0;
  // As ChannelSink::on_short_send.
  virtual bool on_short_send(const ShortSend&) { return false; }
  // Notes and Terminates too.
  virtual void on_message(const Message& message) = 0;
  // The initiator's first FPDU carried nothing, as was agreed: a Write or a Read Request of no
  // bytes.
  virtual void on_ready_to_receive(const Message& message) = 0;
  virtual bool is_receiving() const = 0;

 protected:
  ~InboundSink() = default;
};

struct InboundRules {
  bool has_crc = false;
  bool knows_notes = false;
  bool expects_rtr = false;  // the first FPDU may be an empty one that only says "ready"
  bool knows_voids = false;  // a message whose last FPDU has the void mark is not delivered
  bool acks_ride = false;    // the header of a send may carry an ack
};

}  // namespace softdat::transport::tcp
