// SPDX-License-Identifier: BSD-2-Clause
// The MPA request and reply frames that open a connection: RFC 5044 section 7.1, with the enhanced
// mode of RFC 6581. Pure codec.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"

namespace softdat::transport::tcp {

enum class MpaFrameKind : std::uint8_t { kRequest, kReply };

// Ways in which an initiator may make its first FPDU carry nothing (RFC 6581 section 4.2).
enum ReadyToReceive : std::uint8_t { kRtrSend = 1, kRtrWrite = 2, kRtrRead = 4 };

// The four bytes that revision 2 puts ahead of the private data when S is set.
struct MpaEnhanced {
  bool is_peer_to_peer = false;  // A
  std::uint8_t rtr = 0;          // ReadyToReceive flags: B, C, D
  std::uint16_t ird = 0;         // 14 bits
  std::uint16_t ord = 0;
  friend bool operator==(const MpaEnhanced&, const MpaEnhanced&) = default;
};

struct MpaFrame {
  MpaFrameKind kind = MpaFrameKind::kRequest;
  bool wants_markers = false;  // M
  bool wants_crc = false;      // C
  bool is_rejected = false;    // R
  std::uint8_t revision = 2;
  std::optional<MpaEnhanced> enhanced{};  // S
  std::vector<std::byte> private_data{};  // without the enhanced four bytes
  friend bool operator==(const MpaFrame&, const MpaFrame&) = default;
};

enum class MpaFault : std::uint8_t {
  kWrongKey,
  kBadRevision,  // 0, or beyond 2
  kTooLong,      // more than kMaxMpaPrivateData announced
  kTruncated,    // fewer bytes than announced, or more
  kNoEnhanced,   // S set, but fewer than four bytes follow
};

inline constexpr std::size_t kMpaHeaderSize = 20;
inline constexpr std::size_t kMpaEnhancedSize = 4;
// What the RFC lets a frame carry in all, and what some responders bear (a Linux one fails beyond).
inline constexpr std::size_t kMaxMpaPrivateData = 512;
inline constexpr std::size_t kSafeMpaPrivateData = 256;
inline constexpr std::uint16_t kMaxReads = 0x3ffe;  // 0x3fff means "not said"
inline constexpr std::uint16_t kUnspecifiedReads = 0x3fff;

// Requires private data that fits, and enhanced only at revision 2.
std::vector<std::byte> encode_mpa_frame(const MpaFrame& frame);

// How many bytes of private data follow this header of kMpaHeaderSize bytes; a fault as soon as
// the header shows it. So a reader never takes more off the wire than belongs to the frame.
base::Result<std::size_t, MpaFault> decode_mpa_length(MpaFrameKind expected, std::span<const std::byte> header);

// Total: any bytes in, a frame or a fault out. `bytes` is one whole frame.
base::Result<MpaFrame, MpaFault> decode_mpa_frame(MpaFrameKind expected, std::span<const std::byte> bytes);

}  // namespace softdat::transport::tcp
