// SPDX-License-Identifier: BSD-2-Clause
// Codec of the DDP header with its RDMAP control byte: RFC 5041 section 4, RFC 5040 section 4.1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "transport/message.h"

namespace softdat::transport::tcp {

inline constexpr std::size_t kTaggedHeadSize = 14;
inline constexpr std::size_t kUntaggedHeadSize = 18;
// Where both headers have their STag: in an untagged one the field that RFC 5040 leaves to Send with Invalidate.
inline constexpr std::size_t kAtStag = 2;
inline constexpr std::size_t kMaxBodySize = 128;  // far beyond every RDMAP header there is
inline constexpr std::size_t kMaxHeadSize = kUntaggedHeadSize + kMaxBodySize;

struct Segment {
  Opcode opcode = Opcode::kSend;
  bool is_last = true;
  std::uint32_t stag = 0;    // tagged: the target; untagged: the key to invalidate, acks that ride, or 0
  std::uint64_t offset = 0;  // tagged
  std::uint32_t queue = 0;   // untagged
  std::uint32_t sequence = 0;
  std::uint32_t message_offset = 0;
  friend bool operator==(const Segment&, const Segment&) = default;
};

// The layout of a ULPDU, from its first two bytes and its length. Sizes in bytes.
struct SegmentShape {
  Opcode opcode = Opcode::kSend;
  std::size_t ddp_size = 0;   // of the DDP header
  std::size_t body_size = 0;  // of the RDMAP header behind it
  std::size_t payload = 0;    // what is left for payload
  constexpr std::size_t head_size() const { return ddp_size + body_size; }
};

constexpr std::size_t ddp_size_of(Opcode opcode) {
  return is_tagged(opcode) ? kTaggedHeadSize : kUntaggedHeadSize;
}

// The same from the first byte of a ULPDU, even if the rest of it is wrong.
std::size_t ddp_size_of(std::byte control);

// REQUIRES: two bytes. Any values are allowed; wrong ones give the code to terminate with.
base::Result<SegmentShape, TerminateCode> decode_shape(std::uint16_t ulpdu_length, std::span<const std::byte> control);

// REQUIRES: `shape` comes from these bytes, and there are shape.ddp_size of them.
Segment decode_segment(const SegmentShape& shape, std::span<const std::byte> head);

// The head of a Send or a Send with Solicited Event that is one segment.
struct WholeSend {
  Opcode opcode = Opcode::kSend;
  std::uint32_t stag = 0;
  std::uint32_t sequence = 0;
};

// Nothing: the ULPDU is something else, or wrong. REQUIRES: kUntaggedHeadSize bytes.
std::optional<WholeSend> decode_whole_send(std::span<const std::byte> head);

// Writes the DDP header and returns its size; `to` has room for kUntaggedHeadSize.
std::size_t encode_segment(const Segment& segment, std::byte* to);

}  // namespace softdat::transport::tcp
