// SPDX-License-Identifier: BSD-2-Clause
// Inbound: reads the socket of one connection, and has its bytes made into placed payload and messages. Knows no
// handshake and no closing. Baton only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/channel.h"
#include "transport/message.h"
#include "transport/tcp/buffer_pool.h"
#include "transport/tcp/fpdu_parser.h"
#include "transport/tcp/inbound_sink.h"
#include "transport/tcp/message_assembler.h"

namespace softdat::transport::tcp {

enum class ReadStatus {
  kDrained,  // nothing more in the socket for now
  kMore,     // the budget is spent
  kEnd,      // the peer has ended its stream
  kLost,     // the socket failed
  kFault,    // the peer broke the protocol: see fault
  kStopped,  // the sink does not receive any more
};

struct ReadOutcome {
  ReadStatus status;
  std::size_t bytes = 0;
  TerminateCode fault{};
};

class Inbound {
 public:
  Inbound(BufferPool& pool, InboundSink& sink) : buffer_(pool), sink_(sink) {}
  void start(const InboundRules& rules) {
    messages_.start(rules);
    parser_.start(rules);
  }

  // Reads and delivers until the socket is empty or about `budget` bytes were read.
  ReadOutcome read(int fd, std::size_t budget);

  // Gives the buffer back; what was in it is lost. For a connection that has ended.
  void abandon();

  const FpduParser& parser() const { return parser_; }

  // The segment that is being delivered or was at fault, for a Terminate to quote: its length and
  // head. Empty otherwise, also while only a part of a segment has come.
  std::uint16_t quoted_length() const { return is_quotable() ? parser_.segment_length() : std::uint16_t{0}; }
  std::span<const std::byte> quoted_head() const {
    return is_quotable() ? parser_.segment_head() : std::span<const std::byte>{};
  }

 private:
  bool is_quotable() const { return is_reading_ || parser_.fault(); }
  ReadOutcome read_until(int fd, std::size_t budget);
  long receive_staged(int fd, std::size_t wanted);
  long receive_direct(int fd);
  long receive_slices(int fd, const SliceList& slices, std::size_t length);
  long receive_discarded(int fd, std::size_t length);

  ByteBuffer buffer_;
  InboundSink& sink_;
  MessageAssembler messages_{sink_};
  FpduParser parser_{buffer_, messages_};
  bool is_reading_ = false;  // within read(), which gives the buffer back itself
  bool is_drained_ = false;
};

}  // namespace softdat::transport::tcp
