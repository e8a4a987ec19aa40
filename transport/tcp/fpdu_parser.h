// SPDX-License-Identifier: BSD-2-Clause
// FpduParser: cuts the bytes of one connection, which a reader puts into a buffer, into FPDUs. It checks their CRC and
// heads, leads the segments in them to the MessageAssembler, and copies the payload that stands in the buffer to its
// place. Baton only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "transport/message.h"
#include "transport/tcp/buffer_pool.h"
#include "transport/tcp/inbound_sink.h"
#include "transport/tcp/message_assembler.h"
#include "transport/tcp/segment.h"

namespace softdat::transport::tcp {

class FpduParser {
 public:
  // From so much payload on a system call costs less than copying twice.
  static constexpr std::size_t kDirectLeast = 8192;
  // Read behind large payload: its trailer, the next head, and perhaps a small message.
  static constexpr std::size_t kSmallReadAhead = 1024;

  FpduParser(ByteBuffer& buffer, MessageAssembler& messages) : buffer_(buffer), messages_(messages) {}
  void start(const InboundRules& rules) { rules_ = rules; }

  // A small step over the bytes in the buffer. False: bytes are missing, the peer is at fault, or the sink has stopped
  // receiving.
  bool step();
  const std::optional<TerminateCode>& fault() const { return fault_; }

  // For the reader, when step() has returned false: whether the payload that comes next should go from the socket to
  // its place, and how many bytes it should read into the buffer otherwise.
  bool wants_direct() const;
  std::size_t wanted_bytes() const;
  // The socket had all that was wanted, so the next read may be larger.
  void grow_read_ahead();

  // Whether an FPDU has come, or at least its head.
  bool has_heard() const { return is_in_segment_ || messages_.has_ended_one(); }
  // True between messages, with nothing of the next one here.
  bool is_at_border() const { return !is_in_segment_ && buffer_.empty() && messages_.is_between_messages(); }

  // The length and the head of the present segment, from the arrival of its head to its last byte; otherwise empty.
  std::uint16_t segment_length() const { return is_in_segment_ ? ulpdu_length_ : std::uint16_t{0}; }
  std::span<const std::byte> segment_head() const;

 private:
  bool pass_whole_send();
  bool parse_head();
  bool begin_segment(const SegmentShape& shape, std::span<const std::byte> ulpdu);
  bool place_staged();
  bool pass_trailer();
  bool is_void(std::span<const std::byte> tail) const;
  bool blame(const TerminateCode& code);
  bool blame_head(const TerminateCode& code, std::span<const std::byte> head);

  ByteBuffer& buffer_;
  MessageAssembler& messages_;
  InboundRules rules_{};
  bool is_in_segment_ = false;  // the head of a segment has come, and not yet all of its trailer
  bool is_front_good_ = false;  // within step(): the CRC of the first FPDU in the buffer
  std::optional<TerminateCode> fault_;
  std::uint16_t ulpdu_length_ = 0;
  SegmentShape shape_{};
  std::array<std::byte, kMaxHeadSize> head_{};
  std::size_t read_ahead_ = BufferPool::kBufferSize;
};

}  // namespace softdat::transport::tcp
