// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/segment.h"

#include "base/assert.h"
#include "base/byte_order.h"
#include "transport/tcp/fault.h"
#include "transport/tcp/opcode_table.h"

namespace softdat::transport::tcp {
namespace {

using base::load_be;
using base::store_be;

constexpr std::uint8_t kTagged = 0x80;
constexpr std::uint8_t kLast = 0x40;
constexpr std::uint8_t kDdpVersionMask = 0x03;
constexpr std::uint8_t kDdpVersion = 1;
constexpr std::uint8_t kRdmapVersionMask = 0xc0;
constexpr std::uint8_t kRdmapVersion = 0x40;
constexpr std::uint8_t kOpcodeMask = 0x0f;

base::Result<Opcode, TerminateCode> decode_control(std::uint8_t ddp, std::uint8_t rdmap) {
  const bool tagged = (ddp & kTagged) != 0;
  // The order of the checks decides which error a Terminate reports: DDP first, then RDMAP (docs/WIRE.md, "Breaches").
  if ((ddp & kDdpVersionMask) != kDdpVersion) {
    return base::Failure{tagged ? fault::kTaggedVersion : fault::kUntaggedVersion};
  }
  if ((rdmap & kRdmapVersionMask) != kRdmapVersion) return base::Failure{fault::kRdmapVersion};
  const auto opcode = static_cast<Opcode>(rdmap & kOpcodeMask);
  const OpcodeRow& row = row_of(opcode);
  if (!row.is_known || row.is_tagged != tagged) return base::Failure{fault::kUnexpectedOpcode};
  return opcode;
}

// A Terminate's length depends on what it quotes; the others' is fixed, and only payload opcodes
// have more behind it.
bool is_length_right(const SegmentShape& shape) {
  if (shape.body_size > kMaxBodySize) return false;
  return carries_payload(shape.opcode) || shape.payload == 0;
}

}  // namespace

std::size_t ddp_size_of(std::byte control) {
  return (std::to_integer<std::uint8_t>(control) & kTagged) != 0 ? kTaggedHeadSize : kUntaggedHeadSize;
}

base::Result<SegmentShape, TerminateCode> decode_shape(std::uint16_t ulpdu_length, std::span<const std::byte> control) {
  if (ulpdu_length < 2) return base::Failure{fault::kLength};
  SOFTDAT_DEBUG_CHECK(control.size() >= 2, "both control bytes have come", control.size());
  const auto opcode =
      decode_control(std::to_integer<std::uint8_t>(control[0]), std::to_integer<std::uint8_t>(control[1]));
  if (!opcode.ok()) return base::Failure{opcode.reason()};
  SegmentShape shape{.opcode = opcode.value(), .ddp_size = ddp_size_of(opcode.value())};
  const std::size_t least = shape.ddp_size + row_of(shape.opcode).body_size;
  if (ulpdu_length < least) return base::Failure{fault::kLength};
  const bool is_open_ended = shape.opcode == Opcode::kTerminate;
  shape.body_size = is_open_ended ? ulpdu_length - shape.ddp_size : row_of(shape.opcode).body_size;
  shape.payload = ulpdu_length - shape.head_size();
  if (!is_length_right(shape)) return base::Failure{fault::kLength};
  return shape;
}

Segment decode_segment(const SegmentShape& shape, std::span<const std::byte> head) {
  SOFTDAT_DEBUG_CHECK(head.size() >= shape.ddp_size, "the whole DDP header has come", head.size(), shape.ddp_size);
  Segment segment{.opcode = shape.opcode, .is_last = (std::to_integer<std::uint8_t>(head[0]) & kLast) != 0};
  segment.stag = load_be<std::uint32_t>(&head[kAtStag]);
  if (is_tagged(shape.opcode)) {
    segment.offset = load_be<std::uint64_t>(&head[6]);
  } else {
    segment.queue = load_be<std::uint32_t>(&head[6]);
    segment.sequence = load_be<std::uint32_t>(&head[10]);
    segment.message_offset = load_be<std::uint32_t>(&head[14]);
  }
  return segment;
}

std::optional<WholeSend> decode_whole_send(std::span<const std::byte> head) {
  SOFTDAT_DEBUG_CHECK(head.size() >= kUntaggedHeadSize, "the whole DDP header has come", head.size());
  const auto opcode = static_cast<Opcode>(std::to_integer<std::uint8_t>(head[1]) ^ kRdmapVersion);
  const bool is_plain_send = opcode == Opcode::kSend || opcode == Opcode::kSendSolicited;
  const bool is_whole = head[0] == std::byte{kLast | kDdpVersion} && load_be<std::uint32_t>(&head[14]) == 0;
  if (!is_plain_send || !is_whole || load_be<std::uint32_t>(&head[6]) != kSendQueue) return std::nullopt;
  return WholeSend{opcode, load_be<std::uint32_t>(&head[kAtStag]), load_be<std::uint32_t>(&head[10])};
}

// Tagged: 14 bytes, with STag and tagged offset. Untagged: 18, with queue, sequence number and message offset (RFC 5041
// section 4).
std::size_t encode_segment(const Segment& segment, std::byte* to) {
  const bool tagged = is_tagged(segment.opcode);
  to[0] = static_cast<std::byte>((tagged ? kTagged : 0) | (segment.is_last ? kLast : 0) | kDdpVersion);
  to[1] = static_cast<std::byte>(kRdmapVersion | static_cast<std::uint8_t>(segment.opcode));
  store_be(to + kAtStag, segment.stag);
  if (tagged) {
    store_be(to + 6, segment.offset);
    return kTaggedHeadSize;
  }
  store_be(to + 6, segment.queue);
  store_be(to + 10, segment.sequence);
  store_be(to + 14, segment.message_offset);
  return kUntaggedHeadSize;
}

}  // namespace softdat::transport::tcp
