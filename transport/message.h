// SPDX-License-Identifier: BSD-2-Clause
// One RDMA message as two simulated NICs exchange it, whatever carries it. The opcodes are RDMAP's
// (RFC 5040 section 4.3, RFC 7306 section 9); Note is ours and only ever goes to a peer that
// announced kNotes.
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
};

// What an atomic request asks for (RFC 7306 section 5): numbers of the wire.
inline constexpr std::uint32_t kFetchAddCode = 0;
inline constexpr std::uint32_t kSwapCode = 1;
inline constexpr std::uint32_t kCompareSwapCode = 2;

// Why a connection is terminated: RFC 5040 section 4.8, as the three fields that go on the wire.
struct TerminateCode {
  std::uint8_t layer = 0;  // 0 RDMAP, 1 DDP, 2 MPA
  std::uint8_t type = 0;
  std::uint8_t code = 0;
  friend bool operator==(const TerminateCode&, const TerminateCode&) = default;
};

// The fields of a message's head; those its opcode has no use for stay zero. Payload travels beside
// it.
struct Message {
  // Makes it a message of that kind, of which nothing else is said yet. In place: who assigns one copies it, and such a
  // copy waits until the processor has put together the small stores that it reads.
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

// kWrite and kReadResponse name the place of their payload themselves.
constexpr bool is_tagged(Opcode opcode) {
  return opcode == Opcode::kWrite || opcode == Opcode::kReadResponse;
}

// Whether payload travels beside the head. (A read request's length is of what it asks for.)
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

// A short list of slices without allocation: what a gather or placement resolves to.
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
