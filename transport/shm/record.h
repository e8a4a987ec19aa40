// SPDX-License-Identifier: BSD-2-Clause
// What goes through the rings: records. Both ends are on one host and of one layout version, so
// numbers are in the machine's own order; still nothing is cast, and decoding is total: any bytes
// give a value or nothing.
//
// First word of each record: bits 0-23 length in bytes, 24-31 kind, 32-63 channel. A channel's
// number is the same on both sides: bit 31 tells which side asked for the connection, the rest is
// chosen by that side.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "transport/message.h"
#include "transport/offer.h"

namespace softdat::transport::shm {

enum class RecordKind : std::uint8_t {
  kConnect = 1,    // offer; opens the channel
  kAccept = 2,     // offer
  kConfirm = 3,    // nothing: the accept has arrived
  kRefuse = 4,     // final: reason, private data
  kBye = 5,        // final: orderly, or the answer to the peer's final
  kTerminate = 6,  // final: code
  kFault = 7,      // final: the sender's memory was revoked in mid-message
  kMessage = 8,    // head, and the payload or its beginning
  kMore = 9,       // more of the payload
};

struct RecordWord {
  std::uint32_t bytes = 0;
  RecordKind kind = RecordKind::kBye;
  std::uint32_t channel = 0;
};

inline constexpr std::size_t kWordBytes = sizeof(std::uint64_t);

constexpr std::uint64_t pack(const RecordWord& word) {
  return word.bytes | static_cast<std::uint64_t>(word.kind) << 24 | static_cast<std::uint64_t>(word.channel) << 32;
}

constexpr RecordWord unpack(std::uint64_t word) {
  return {.bytes = static_cast<std::uint32_t>(word & 0xffffff),
          .kind = static_cast<RecordKind>(word >> 24 & 0xff),
          .channel = static_cast<std::uint32_t>(word >> 32)};
}

// The words of a message's head after the record's first word.
struct MessageHead {
  static constexpr std::size_t kMostWords = 8;
  std::array<std::uint64_t, kMostWords> words{};
  std::size_t count = 0;
  std::size_t bytes() const { return count * kWordBytes; }
};

// The first of them: bits 0-7 opcode, 8-15 note, 16-31 acks, 32-63 length of the payload.
struct HeadWord {
  Opcode opcode = Opcode::kSend;
  NoteKind note{};
  std::uint16_t acks = 0;
  std::uint32_t length = 0;
};

constexpr std::uint64_t pack(const HeadWord& word) {
  return static_cast<std::uint64_t>(word.opcode) | static_cast<std::uint64_t>(word.note) << 8 |
         std::uint64_t{word.acks} << 16 | std::uint64_t{word.length} << 32;
}

constexpr HeadWord unpack_head(std::uint64_t word) {
  return {.opcode = static_cast<Opcode>(word & 0xff),
          .note = static_cast<NoteKind>(word >> 8 & 0xff),
          .acks = static_cast<std::uint16_t>(word >> 16),
          .length = static_cast<std::uint32_t>(word >> 32)};
}

// Requires an opcode that travels as a message. `acks`: as many requests more have been carried out than the peer was
// told last, so that an ack need not have a record of its own.
MessageHead encode_head(const Message& message, std::uint16_t acks = 0);

// What a head says beside its message.
struct HeadNotes {
  std::uint16_t acks = 0;
  std::size_t bytes = 0;  // of the head; the payload follows
};
// `from` begins after the record's first word. Nothing, and `message` worth nothing, when it is no head.
std::optional<HeadNotes> decode_head(std::span<const std::byte> from, Message& message);

// The largest pieces of payload that share a record with a head, or stand alone.
inline constexpr std::size_t kMostPayload = std::size_t{16} << 10;
inline constexpr std::size_t kMostRecord = kMostPayload + (1 + MessageHead::kMostWords) * kWordBytes;

// Why the connector was refused. `is_stale`: no listener is here (any more); the connector looks it up again.
struct RefusalNotice {
  Refusal reason = Refusal::kNoListener;
  bool is_stale = false;
  std::vector<std::byte> private_data{};
};

using Bytes = std::vector<std::byte>;
// A refusal and a Terminate must go out when memory is short, so these have a fixed size.
using BareRefusal = std::array<std::byte, 2>;
using TerminateBytes = std::array<std::byte, 3>;
Bytes encode_offer(const Offer& offer);
std::optional<Offer> decode_offer(std::span<const std::byte> from);
Bytes encode_refusal(const RefusalNotice& notice);
// Without private data.
BareRefusal encode_bare_refusal(Refusal reason, bool is_stale);
std::optional<RefusalNotice> decode_refusal(std::span<const std::byte> from);
TerminateBytes encode_terminate(const TerminateCode& code);
std::optional<TerminateCode> decode_terminate(std::span<const std::byte> from);

}  // namespace softdat::transport::shm
