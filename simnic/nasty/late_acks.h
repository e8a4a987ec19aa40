// SPDX-License-Identifier: BSD-2-Clause
// LateAcks: holds acknowledgements back, so that requests complete later than they are acknowledged. Requests are
// numbered as NastySender numbers them.
//
// A member of a NastyChannel, which also owns `context`. Owned by the baton.
#pragma once

#include <cstdint>
#include <map>

#include "simnic/nasty/channel_context.h"
#include "simnic/nasty/holder.h"

namespace softdat::simnic::nasty {

class LateAcks final : private Holder {
 public:
  // Throws std::bad_alloc.
  explicit LateAcks(const ChannelContext& context) : Holder(context.carrier), context_(context) {}

  // The completion of this request is late by so many looks. Without memory it is in time.
  void delay(std::uint64_t number, unsigned looks);
  // The peer has acknowledged `count` requests. An acknowledgement that covers a request whose completion is late
  // waits, and later ones join it.
  void on_ack(std::uint64_t count);
  // An answer acknowledges `count` requests: no acknowledgement need come for them any more.
  void forget(std::uint64_t count) { late_.erase(late_.begin(), late_.lower_bound(count)); }
  // Tells the queue pair what it does not know yet.
  void hand_on();

 private:
  void on_hold_over() override { hand_on(); }

  const ChannelContext& context_;
  std::map<std::uint64_t, unsigned> late_;  // by how many looks; of requests that are not handed on
  std::uint64_t acknowledged_ = 0;          // by the peer
  std::uint64_t handed_on_ = 0;             // of these, as the queue pair knows it
};

}  // namespace softdat::simnic::nasty
