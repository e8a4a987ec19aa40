// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/mpa_frame.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/assert.h"
#include "base/byte_order.h"

namespace softdat::transport::tcp {
namespace {

using base::load_be;
using base::store_be;

constexpr std::string_view kRequestKey = "MPA ID Req Frame";
constexpr std::string_view kReplyKey = "MPA ID Rep Frame";

constexpr std::uint8_t kFlagMarkers = 0x80;
constexpr std::uint8_t kFlagCrc = 0x40;
constexpr std::uint8_t kFlagRejected = 0x20;
constexpr std::uint8_t kFlagEnhanced = 0x10;

// The two top bits of either half of the enhanced data are flags.
constexpr std::uint16_t kPeerToPeer = 0x8000;
constexpr std::uint16_t kSendRtr = 0x4000;
constexpr std::uint16_t kWriteRtr = 0x8000;
constexpr std::uint16_t kReadRtr = 0x4000;
constexpr std::uint16_t kReadsMask = 0x3fff;

constexpr std::string_view key_of(MpaFrameKind kind) {
  return kind == MpaFrameKind::kRequest ? kRequestKey : kReplyKey;
}

std::uint8_t flags_of(const MpaFrame& frame) {
  return static_cast<std::uint8_t>((frame.wants_markers ? kFlagMarkers : 0) | (frame.wants_crc ? kFlagCrc : 0) |
                                   (frame.is_rejected ? kFlagRejected : 0) | (frame.enhanced ? kFlagEnhanced : 0));
}

// RFC 6581: A, B and IRD in the first half, C, D and ORD in the second. A: peer-to-peer; B, C, D: the first FPDU is an
// empty Send, Write or Read.
void encode_enhanced(const MpaEnhanced& enhanced, std::byte* to) {
  const int first = (enhanced.ird & kReadsMask) | (enhanced.is_peer_to_peer ? kPeerToPeer : 0) |
                    ((enhanced.rtr & kRtrSend) != 0 ? kSendRtr : 0);
  const int second = (enhanced.ord & kReadsMask) | ((enhanced.rtr & kRtrWrite) != 0 ? kWriteRtr : 0) |
                     ((enhanced.rtr & kRtrRead) != 0 ? kReadRtr : 0);
  store_be(to, static_cast<std::uint16_t>(first));
  store_be(to + 2, static_cast<std::uint16_t>(second));
}

// IRD and ORD have 14 bits each. All ones: the peer leaves them open (kUnspecifiedReads).
MpaEnhanced decode_enhanced(const std::byte* from) {
  const auto first = load_be<std::uint16_t>(from);
  const auto second = load_be<std::uint16_t>(from + 2);
  const int rtr = ((first & kSendRtr) != 0 ? kRtrSend : 0) | ((second & kWriteRtr) != 0 ? kRtrWrite : 0) |
                  ((second & kReadRtr) != 0 ? kRtrRead : 0);
  return {.is_peer_to_peer = (first & kPeerToPeer) != 0,
          .rtr = static_cast<std::uint8_t>(rtr),
          .ird = static_cast<std::uint16_t>(first & kReadsMask),
          .ord = static_cast<std::uint16_t>(second & kReadsMask)};
}

bool has_key(MpaFrameKind kind, std::span<const std::byte> header) {
  const std::string_view key = key_of(kind);
  return std::memcmp(header.data(), key.data(), key.size()) == 0;
}

}  // namespace

std::vector<std::byte> encode_mpa_frame(const MpaFrame& frame) {
  const std::size_t extra = frame.enhanced ? kMpaEnhancedSize : 0;
  const std::size_t length = extra + frame.private_data.size();
  base::check(length <= kMaxMpaPrivateData, "MPA private data fits", length);
  base::check(!frame.enhanced || frame.revision >= 2, "revision 1 has no enhanced data", frame.revision);
  std::vector<std::byte> bytes(kMpaHeaderSize + length);
  const std::string_view key = key_of(frame.kind);
  std::memcpy(bytes.data(), key.data(), key.size());
  bytes[16] = std::byte{flags_of(frame)};
  bytes[17] = std::byte{frame.revision};
  store_be(bytes.data() + 18, static_cast<std::uint16_t>(length));
  if (frame.enhanced) encode_enhanced(*frame.enhanced, bytes.data() + kMpaHeaderSize);
  std::copy(frame.private_data.begin(), frame.private_data.end(),
            bytes.begin() + static_cast<std::ptrdiff_t>(kMpaHeaderSize + extra));
  return bytes;
}

base::Result<std::size_t, MpaFault> decode_mpa_length(MpaFrameKind expected, std::span<const std::byte> header) {
  if (header.size() < kMpaHeaderSize) return base::Failure{MpaFault::kTruncated};
  // RFC 5044 section 7.1: a wrong key ends the connection without an answer.
  if (!has_key(expected, header)) return base::Failure{MpaFault::kWrongKey};
  const auto revision = std::to_integer<std::uint8_t>(header[17]);
  if (revision < 1 || revision > 2) return base::Failure{MpaFault::kBadRevision};
  const std::size_t length = load_be<std::uint16_t>(header.data() + 18);
  if (length > kMaxMpaPrivateData) return base::Failure{MpaFault::kTooLong};
  return length;
}

base::Result<MpaFrame, MpaFault> decode_mpa_frame(MpaFrameKind expected, std::span<const std::byte> bytes) {
  const auto length = decode_mpa_length(expected, bytes);
  if (!length.ok()) return base::Failure{length.reason()};
  if (bytes.size() != kMpaHeaderSize + length.value()) return base::Failure{MpaFault::kTruncated};
  const auto flags = std::to_integer<std::uint8_t>(bytes[16]);
  MpaFrame frame{.kind = expected,
                 .wants_markers = (flags & kFlagMarkers) != 0,
                 .wants_crc = (flags & kFlagCrc) != 0,
                 .is_rejected = (flags & kFlagRejected) != 0,
                 .revision = std::to_integer<std::uint8_t>(bytes[17])};
  std::span<const std::byte> rest = bytes.subspan(kMpaHeaderSize);
  // Revision 1 has no S; the bit is one of its reserved ones, which a receiver does not look at.
  if (frame.revision >= 2 && (flags & kFlagEnhanced) != 0) {
    if (rest.size() < kMpaEnhancedSize) return base::Failure{MpaFault::kNoEnhanced};
    frame.enhanced = decode_enhanced(rest.data());
    rest = rest.subspan(kMpaEnhancedSize);
  }
  frame.private_data.assign(rest.begin(), rest.end());
  return frame;
}

}  // namespace softdat::transport::tcp
