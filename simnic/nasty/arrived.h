// SPDX-License-Identifier: BSD-2-Clause
// A whole message that has arrived, and how it is handed on to the queue pair: its bytes in any order, and garbage
// where a program may rely on nothing. The functions REQUIRE the baton.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simnic/nasty/channel_context.h"
#include "simnic/nasty/decisions.h"
#include "transport/channel.h"

namespace softdat::simnic::nasty {

struct Arrived {
  transport::Message message{};
  std::vector<std::byte> bytes{};  // its payload
  Inbound fate{};
  bool is_begun = false;          // its first bytes are placed
  std::size_t stored_pieces = 0;  // of a write: so many of the first part are stored
};

// The bytes [begin, end) of the message.
transport::Arrival part_of(const transport::Message& message, std::uint64_t begin, std::uint64_t end);

// Places the last bytes, and some others. What belongs to the adapter until it completes gets garbage elsewhere.
void place_first(const ChannelContext& context, Arrived& arrived);
// Places all bytes, but those of a write that are stored already. False: the sink discards them, or its memory faults,
// which it has been told.
bool place_all(const ChannelContext& context, const Arrived& arrived);
// As place_all(), fills the rest of the receive with garbage, and tells the queue pair of the message.
void hand_on(const ChannelContext& context, const Arrived& arrived);

}  // namespace softdat::simnic::nasty
