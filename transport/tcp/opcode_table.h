// SPDX-License-Identifier: BSD-2-Clause
// How each RDMAP opcode travels over DDP: RFC 5040 section 4.3 and 4.4, RFC 7306 sections 5 to 9.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "transport/message.h"

namespace softdat::transport::tcp {

struct OpcodeRow {
  bool is_known = false;
  bool is_tagged = false;
  std::uint8_t queue = 0;      // untagged: the DDP queue number
  std::uint8_t body_size = 0;  // bytes of RDMAP header behind the DDP one; of a Terminate the least
};

inline constexpr std::uint32_t kSendQueue = 0;
inline constexpr std::uint32_t kReadRequestQueue = 1;
inline constexpr std::uint32_t kTerminateQueue = 2;
inline constexpr std::uint32_t kAtomicResponseQueue = 3;
inline constexpr std::size_t kQueueCount = 4;

inline constexpr std::array<OpcodeRow, 16> kOpcodeTable{{
    {.is_known = true, .is_tagged = true},                               // 0 Write
    {.is_known = true, .queue = kReadRequestQueue, .body_size = 28},     // 1 Read Request
    {.is_known = true, .is_tagged = true},                               // 2 Read Response
    {.is_known = true, .queue = kSendQueue},                             // 3 Send
    {.is_known = true, .queue = kSendQueue},                             // 4 Send with Invalidate
    {.is_known = true, .queue = kSendQueue},                             // 5 Send with Solicited Event
    {.is_known = true, .queue = kSendQueue},                             // 6 both
    {.is_known = true, .queue = kTerminateQueue, .body_size = 4},        // 7 Terminate
    {.is_known = true, .queue = kSendQueue, .body_size = 8},             // 8 Immediate Data
    {.is_known = true, .queue = kSendQueue, .body_size = 8},             // 9 with Solicited Event
    {.is_known = true, .queue = kReadRequestQueue, .body_size = 52},     // A Atomic Request
    {.is_known = true, .queue = kAtomicResponseQueue, .body_size = 12},  // B Atomic Response
    {},
    {},
    {},
    {},
}};

// Of an opcode that goes on the wire (not kNote).
constexpr const OpcodeRow& row_of(Opcode opcode) {
  return kOpcodeTable[static_cast<std::size_t>(opcode) & 0xf];
}

}  // namespace softdat::transport::tcp
