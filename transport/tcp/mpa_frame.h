// SPDX-License-Identifier: BSD-2-Clause
// Codec of the MPA request and reply frames that open a connection: RFC 5044 section 7.1, with the enhanced mode of RFC
// 6581.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"

namespace softdat::transport::tcp {

enum class MpaFrameKind : std::uint8_t { kRequest, kReply };

// The kinds of empty message that may be the initiator's first FPDU (RFC 6581 section 4.2).
enum ReadyToReceive : std::uint8_t { kRtrSend = 1, kRtrWrite = 2, kRtrRead = 4 };

// The four bytes before the private data at revision 2, if S is set.
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
// The most private data that the RFC allows, and that all known responders accept (a Linux one fails beyond).
inline constexpr std::size_t kMaxMpaPrivateData = 512;
inline constexpr std::size_t kSafeMpaPrivateData = 256;
inline constexpr std::uint16_t kMaxReads = 0x3ffe;  // 0x3fff means "not said"
inline constexpr std::uint16_t kUnspecifiedReads = 0x3fff;

// REQUIRES: private data of at most kMaxMpaPrivateData with the enhanced bytes; `enhanced` at revision 2 only.
std::vector<std::byte> encode_mpa_frame(const MpaFrame& frame);

// How many bytes of private data follow this header of kMpaHeaderSize bytes, or what is wrong with the header. A reader
// that asks first never reads beyond the frame.
base::Result<std::size_t, MpaFault> decode_mpa_length(MpaFrameKind expected, std::span<const std::byte> header);

// Decodes one whole frame. Any bytes are allowed; wrong ones give a fault.
base::Result<MpaFrame, MpaFault> decode_mpa_frame(MpaFrameKind expected, std::span<const std::byte> bytes);

}  // namespace softdat::transport::tcp
