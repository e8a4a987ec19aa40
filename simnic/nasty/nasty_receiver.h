// SPDX-License-Identifier: BSD-2-Clause
// NastyReceiver: hands requests and answers of the peer's on late, and torn. Each message is put together in memory of
// its own first, unless it is very long. Messages are numbered as in docs/decisions/0002: from the connection's first,
// each once, however often it is sent again.
//
// A member of a NastyChannel, which also owns `context`. Owned by the baton.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "simnic/nasty/channel_context.h"
#include "simnic/nasty/kept_messages.h"

namespace softdat::simnic::nasty {

class NastyReceiver {
 public:
  // Throws std::bad_alloc.
  explicit NastyReceiver(const ChannelContext& context) : context_(context), kept_(context) {}

  // The calls of ChannelSink. REQUIRE: the connection is not over.
  transport::Placement place(const transport::Arrival& arrival, transport::SliceList& out);
  void on_message(const transport::Message& message);
  // A note that keeps its order among the messages.
  void on_note(const transport::Message& note);

  // The channel has ended: hands on all that came before the end.
  void hand_on_all();

 private:
  transport::Placement begin_stream(const transport::Arrival& arrival, transport::SliceList& out);
  Inbound decide(transport::Opcode opcode);

  const ChannelContext& context_;
  KeptMessages kept_;
  std::uint64_t requests_ = 0;  // that have come
  std::uint64_t decided_ = 0;   // the highest that requests_ has been
  std::uint64_t answers_ = 0;   // that have come

  // The message that is arriving. None before its first byte.
  std::optional<transport::Message> arriving_;
  std::vector<std::byte> bytes_;  // its payload so far
  bool is_streaming_ = false;     // its payload goes to the sink as it comes
};

}  // namespace softdat::simnic::nasty
