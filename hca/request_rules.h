// SPDX-License-Identifier: BSD-2-Clause
// What holds of every request, whichever backend and kind of queue pair it is posted to.
#pragma once

#include <cstdint>
#include <span>

#include "hca/queue_pair.h"
#include "hca/types.h"

namespace softdat::hca {

inline constexpr std::uint32_t kSendFlags = kSignaled | kSolicited | kFence | kQuiet;
inline constexpr std::uint32_t kBindFlags = kSignaled | kFence | kQuiet;
inline constexpr std::uint32_t kRecvFlags = kQuiet;
// What a registration may ask for.
inline constexpr AccessMask kRegionAccess =
    kLocalWrite | kRemoteRead | kRemoteWrite | kRemoteAtomic | kZeroBased | kBindRemoteRead | kNoLocalRead;
// What a bind may ask for.
inline constexpr AccessMask kBindAccess = kRemoteRead | kRemoteWrite | kRemoteAtomic | kZeroBased;
// Of all segments together.
inline constexpr std::uint64_t kMaxLength = 0xffff'ffff;

// Elsewhere a request could neither travel nor be flushed.
constexpr bool takes_sends(QueuePairState state) {
  return state == QueuePairState::kConnected || state == QueuePairState::kDisconnecting ||
         state == QueuePairState::kError;
}

constexpr std::uint64_t total_length(std::span<const Segment> segments) {
  if (segments.size() == 1) return segments.front().length;  // nearly always
  std::uint64_t total = 0;
  for (const Segment& segment : segments) total += segment.length;
  return total;
}

// Opcode, flags and length of what post_send() is given; the number of segments is the queue pair's affair.
constexpr bool is_well_formed(const SendRequest& request, std::uint64_t length) {
  if (request.opcode >= SendOpcode::kBind || (request.flags & ~kSendFlags) != 0) return false;
  return is_atomic(request.opcode) ? length == sizeof(std::uint64_t) : length <= kMaxLength;
}
constexpr bool is_well_formed(const RecvRequest& request, std::uint64_t length) {
  return (request.flags & ~kRecvFlags) == 0 && length <= kMaxLength;
}
constexpr bool is_well_formed(const BindRequest& request) {
  return (request.flags & ~kBindFlags) == 0 && (request.access & ~kBindAccess) == 0;
}

// The right to its local segments that a request takes beyond reading them; 0: none.
constexpr AccessMask written_right(SendOpcode opcode) {
  if (opcode == SendOpcode::kReadToWindow) return kRemoteWrite;
  return awaits_response(opcode) ? AccessMask{kLocalWrite} : AccessMask{0};
}

constexpr CompletionOpcode completion_opcode(SendOpcode opcode) {
  switch (opcode) {
    case SendOpcode::kSend:
    case SendOpcode::kSendInvalidate:
      return CompletionOpcode::kSend;
    case SendOpcode::kWrite:
      return CompletionOpcode::kWrite;
    case SendOpcode::kRead:
    case SendOpcode::kReadToWindow:
      return CompletionOpcode::kRead;
    case SendOpcode::kWriteWithImmediate:
      return CompletionOpcode::kWriteWithImmediate;
    case SendOpcode::kFetchAdd:
      return CompletionOpcode::kFetchAdd;
    case SendOpcode::kCompareSwap:
      return CompletionOpcode::kCompareSwap;
    case SendOpcode::kBind:
      return CompletionOpcode::kBind;
  }
  return CompletionOpcode::kSend;
}

}  // namespace softdat::hca
