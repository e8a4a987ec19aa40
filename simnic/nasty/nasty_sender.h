// SPDX-License-Identifier: BSD-2-Clause
// NastySender: reads the source of some requests late. Such a request looks to the queue pair like one that finds the
// carrier full: the queue pair tries it again, and is asked for the bytes then. Requests are numbered as in
// docs/decisions/0002: from the connection's first, each once, however often it is sent again.
//
// A member of a NastyChannel, which also owns what the constructor takes. Owned by the baton.
#pragma once

#include <cstdint>

#include "simnic/fault/request_numbers.h"
#include "simnic/nasty/channel_context.h"
#include "simnic/nasty/holder.h"
#include "simnic/nasty/late_acks.h"

namespace softdat::simnic::nasty {

class NastySender final : private Holder {
 public:
  // Throws std::bad_alloc.
  NastySender(const ChannelContext& context, LateAcks& acks)
      : Holder(context.carrier), context_(context), acks_(acks) {}

  // Sends a request by the real channel. The first try decides what happens to it.
  transport::SendResult send(transport::Channel& inner, const transport::Message& message,
                             transport::PayloadSource* payload);
  // The queue pair sends everything from this request on again.
  void rewind(std::uint64_t number) { numbers_.rewind(number); }
  // The answer to a read or atomic has come.
  void on_answer() { acks_.forget(numbers_.take_answer()); }
  // The real channel has room again.
  void on_writable();

 private:
  void decide(const transport::Channel& inner, transport::Opcode opcode);
  void on_hold_over() override { on_writable(); }

  const ChannelContext& context_;
  LateAcks& acks_;
  fault::RequestNumbers numbers_;
};

}  // namespace softdat::simnic::nasty
