// SPDX-License-Identifier: BSD-2-Clause
// KeptMessages: whole messages that have arrived and are held back. Their order stays. When the oldest has waited long
// enough, all that came meanwhile is handed on with it.
//
// A member of a NastyReceiver; `context` must outlive it. Owned by the baton.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "simnic/nasty/arrived.h"
#include "simnic/nasty/channel_context.h"
#include "simnic/nasty/holder.h"

namespace softdat::simnic::nasty {

class KeptMessages final : private Holder {
 public:
  // Throws std::bad_alloc.
  explicit KeptMessages(const ChannelContext& context) : Holder(context.carrier), context_(context) {}

  bool empty() const { return messages_.empty(); }
  // Takes the message and its payload. False: there is no room for them, and `bytes` stays as it was.
  bool keep(const transport::Message& message, std::vector<std::byte>& bytes, const Inbound& fate);
  void hand_on_all();

 private:
  void on_hold_over() override;

  const ChannelContext& context_;
  std::deque<Arrived> messages_;  // oldest first; while there is one, and the connection is not over, there is a hold
  std::size_t size_ = 0;          // bytes in them
};

}  // namespace softdat::simnic::nasty
