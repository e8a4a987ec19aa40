// SPDX-License-Identifier: BSD-2-Clause
// Message: one RDMA message between two simulated NICs, whatever carries it. The opcodes are RDMAP's (RFC 5040
// section 4.3, RFC 7306 section 9), but for those from kNote on, which only go to peers with the matching feature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

namespace softdat::transport {

enum class Opcode : std::uint8_t {
  kWrite = 0x0,
  kReadRequest = 0x1,
  kReadResponse = 0x2,
  kSend = 0x3,
  kSendInvalidate = 0x4,
  kSendSolicited = 0x5,
  kSendSolicitedInvalidate = 0x6,
  kTerminate = 0x7,
  kImmediate = 0x8,
  kImmediateSolicited = 0x9,
  kAtomicRequest = 0xA,
  kAtomicResponse = 0xB,
  kNote = 0x10,
  // A send whose payload its sender has already put into our receive itself; only between peers that
  // reach each other directly.
  kSendPlaced = 0x11,
  kSendPlacedSolicited = 0x12,
};

// Our own control messages: small, ordered with everything else. Their values have 56 bits.
enum class NoteKind : std::uint8_t {
  kAck = 1,     // value: how many requests the sender of the note has carried out on this connection
  kResend = 2,  // value: requests from this one on were dropped for want of a receive; send them
                // again, after kResent
  kResent = 3,  // value: the next request is this one; ends the dropping
  kBye = 4,     // an orderly disconnect: nothing follows
  // Only to a peer that announced Feature::kWords:
  kWords = 5,    // value: seven bytes more of why the connection is about to be terminated, first byte lowest
  kLacking = 6,  // value: for so many milliseconds the sender of the note has had no receive for the other's send
};
inline constexpr NoteKind kLastNote = NoteKind::kLacking;

// What an atomic request asks for (RFC 7306 section 5): numbers of the wire.
inline constexpr std::uint32_t kFetchAddCode = 0;
inline constexpr std::uint32_t kSwapCode = 1;
inline constexpr std::uint32_t kCompareSwapCode = 2;

// Why a connection is terminated: the three fields of RFC 5040 section 4.8.
struct TerminateCode {
  std::uint8_t layer = 0;  // 0 RDMAP, 1 DDP, 2 MPA
  std::uint8_t type = 0;
  std::uint8_t code = 0;
  friend bool operator==(const TerminateCode&, const TerminateCode&) = default;
};

// The fields of a message's head. Those that the opcode does not use are 0. The payload is passed beside it.
struct Message {
  // Resets the message in place. Assigning a Message would stall on store forwarding.
  void begin(Opcode kind, std::uint32_t bytes) { new (this) Message{.opcode = kind, .length = bytes}; }

  Opcode opcode = Opcode::kSend;
  std::uint32_t length = 0;  // payload bytes (kWrite, kReadResponse, kSend*); of kSendPlaced* those already there
  std::uint32_t stag = 0;    // kWrite, kReadResponse: where the payload goes; kSend*Invalidate: what to invalidate
  std::uint64_t offset = 0;  // tagged offset at stag
  // kReadRequest: `length` bytes from the peer's source to our sink, which is (stag, offset).
  std::uint32_t source_stag = 0;  // also kAtomicRequest's target
  std::uint64_t source_offset = 0;
  // kAtomicRequest / kAtomicResponse (RFC 7306 section 5) and kImmediate.
  std::uint32_t request_id = 0;
  std::uint32_t atomic_code = 0;  // one of the codes above
  std::uint64_t operand = 0;      // add or swap data; the response's original value; immediate data
  std::uint64_t operand_mask = 0;
  std::uint64_t compare = 0;
  std::uint64_t compare_mask = 0;
  NoteKind note = NoteKind::kAck;
  std::uint64_t note_value = 0;
  TerminateCode terminate{};
};

// Tagged messages name the place of their payload.
constexpr bool is_tagged(Opcode opcode) {
  return opcode == Opcode::kWrite || opcode == Opcode::kReadResponse;
}

// Whether the message has a payload. (A read request's length is that of the answer.)
constexpr bool carries_payload(Opcode opcode) {
  return is_tagged(opcode) || (opcode >= Opcode::kSend && opcode <= Opcode::kSendSolicitedInvalidate);
}

constexpr std::uint32_t payload_length(const Message& message) {
  return carries_payload(message.opcode) ? message.length : 0;
}

// A run of bytes in this process.
struct Slice {
  std::byte* data;
  std::size_t length;
};

// A list of slices without allocation: the result of a gather or placement.
class SliceList {
 public:
  static constexpr std::size_t kCapacity = 32;
  // False when full.
  bool add(std::byte* data, std::size_t length) {
    if (size_ == kCapacity) return false;
    slices_[size_++] = {data, length};
    return true;
  }
  void clear() { size_ = 0; }
  std::span<const Slice> slices() const { return {slices_, size_}; }
  bool empty() const { return size_ == 0; }

 private:
  Slice slices_[kCapacity];
  std::size_t size_ = 0;
};

}  // namespace softdat::transport
