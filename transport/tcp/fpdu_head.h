// SPDX-License-Identifier: BSD-2-Clause
// The front of an FPDU: its length, the DDP header and the RDMAP header behind it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "base/byte_order.h"
#include "transport/message.h"
#include "transport/tcp/fpdu.h"
#include "transport/tcp/message_body.h"
#include "transport/tcp/note.h"
#include "transport/tcp/opcode_table.h"
#include "transport/tcp/segment.h"

namespace softdat::transport::tcp {

// The most bytes of the front of an FPDU: those of an Atomic Request.
inline constexpr std::size_t kMaxFpduHead = kLengthSize + kUntaggedHeadSize + 52;

// The ULPDU of the message's FPDU that carries `payload` bytes of it.
constexpr std::size_t ulpdu_size(const Message& message, std::size_t payload) {
  return ddp_size_of(message.opcode) + row_of(message.opcode).body_size + payload;
}

// A consumer's own Write of no bytes to STag 0. Its offset means nothing, so it may change.
inline bool looks_like_note(const Message& message) {
  return message.length == 0 && message.stag == kNoteStag && decode_note(message.offset);
}

// Writes the front of the FPDU that carries `payload` bytes of the message from byte `taken` on, and returns its size;
// `to` has room for kMaxFpduHead. `sequence`: the message's number in its queue, if it is untagged.
// `knows_notes`: the peer does. REQUIRES: an opcode of the wire other than kTerminate.
inline std::size_t encode_fpdu_head(const Message& message, std::uint32_t taken, std::size_t payload,
                                    std::uint32_t sequence, bool knows_notes, std::byte* to) {
  SOFTDAT_DEBUG_CHECK(taken + payload <= payload_length(message), "an FPDU carries bytes of its message", taken,
                      payload);
  Segment segment{.opcode = message.opcode, .is_last = taken + payload == payload_length(message)};
  if (is_tagged(message.opcode)) {
    segment.stag = message.stag;
    segment.offset = message.offset + taken;
    if (knows_notes && looks_like_note(message)) segment.offset &= kNoteValueMask;
  } else {
    const bool invalidates =
        message.opcode == Opcode::kSendInvalidate || message.opcode == Opcode::kSendSolicitedInvalidate;
    segment.stag = invalidates ? message.stag : 0;
    segment.queue = row_of(message.opcode).queue;
    segment.sequence = sequence;
    segment.message_offset = taken;
  }
  const std::size_t ddp = encode_segment(segment, to + kLengthSize);
  const std::size_t size = kLengthSize + ddp + encode_body(message, to + kLengthSize + ddp);
  base::store_be(to, static_cast<std::uint16_t>(size - kLengthSize + payload));
  return size;
}

}  // namespace softdat::transport::tcp
