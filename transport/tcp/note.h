// SPDX-License-Identifier: BSD-2-Clause
// Notes, our own control messages, as they travel: a zero-length RDMA Write to STag 0 whose tagged
// offset carries kind (top byte) and value (the rest). Standard iWARP to anyone else; a zero-length
// Write touches no memory, whatever its STag (RFC 5040 section 5.3).
#pragma once

#include <cstdint>
#include <optional>

#include "transport/message.h"

namespace softdat::transport::tcp {

inline constexpr std::uint32_t kNoteStag = 0;
inline constexpr int kNoteKindShift = 56;
inline constexpr std::uint64_t kNoteValueMask = (std::uint64_t{1} << kNoteKindShift) - 1;

constexpr std::uint64_t encode_note(NoteKind kind, std::uint64_t value) {
  return (static_cast<std::uint64_t>(kind) << kNoteKindShift) | (value & kNoteValueMask);
}

struct Note {
  NoteKind kind;
  std::uint64_t value;
};

// Nothing when the offset is that of an ordinary (if odd) Write.
constexpr std::optional<Note> decode_note(std::uint64_t offset) {
  const std::uint64_t kind = offset >> kNoteKindShift;
  if (kind < static_cast<std::uint64_t>(NoteKind::kAck) || kind > static_cast<std::uint64_t>(kLastNote)) {
    return std::nullopt;
  }
  return Note{static_cast<NoteKind>(kind), offset & kNoteValueMask};
}

}  // namespace softdat::transport::tcp
