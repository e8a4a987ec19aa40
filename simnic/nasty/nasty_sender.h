// SPDX-License-Identifier: BSD-2-Clause
// NastySender: reads the source of some requests late. Such a request looks to the queue pair like one that finds the
// carrier full: the queue pair tries it again, and is asked for the bytes then. Requests are numbered as in
// docs/decisions/0002: from the connection's first, each once, however often it is sent again.
//
// A member of a NastyChannel, which also owns what the constructor takes. Owned by the baton.
#pragma once

#include <cstdint>

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
  void rewind(std::uint64_t number) { next_ = number; }
  // The real channel has room again.
  void on_writable();

 private:
  void decide();
  void on_hold_over() override { on_writable(); }

  const ChannelContext& context_;
  LateAcks& acks_;
  std::uint64_t next_ = 0;     // number of the next request
  std::uint64_t decided_ = 0;  // of those before it the fates are known
};

}  // namespace softdat::simnic::nasty
