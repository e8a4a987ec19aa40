// SPDX-License-Identifier: BSD-2-Clause
// The connections of a capture: their handshakes and messages, put together from the packets. Believes nothing: a file
// that is damaged, or no capture of SoftDAT's, ends in a Failure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace softdat::tools::capture {

using Bytes = std::vector<std::byte>;

// RDMAP opcodes (RFC 5040, RFC 7306).
enum class Opcode : std::uint8_t {
  kWrite = 0,
  kReadRequest = 1,
  kReadResponse = 2,
  kSend = 3,
  kSendInvalidate = 4,
  kSendSolicited = 5,
  kSendSolicitedInvalidate = 6,
  kTerminate = 7,
  kImmediate = 8,
  kImmediateSolicited = 9,
  kAtomicRequest = 10,
  kAtomicResponse = 11,
};

struct Message {
  Opcode opcode = Opcode::kSend;
  bool is_from_initiator = false;
  std::uint64_t frame = 0;   // the number of its first packet, as Wireshark counts
  std::uint64_t number = 0;  // in the connection, from 1 on; of a response that of its request
  std::uint32_t stag = 0;    // of what it writes, reads or changes on the receiving side
  std::uint64_t address = 0;
  std::uint32_t length = 0;  // of a read request
  Bytes bytes{};             // the payload; of a request whose answer was seen, that of the answer
  bool is_answered = false;
  bool is_cut = false;  // the capture lacks a part of `bytes`
  // The next three are of an atomic request; its `bytes` are the value before, in the byte order of the memory.
  bool is_swap = false;
  std::uint64_t operand = 0;
  std::uint64_t compare = 0;
};

// Writes, reads, atomics and sends: what a program posts.
bool is_request(Opcode opcode);
bool is_send(Opcode opcode);

struct Connection {
  std::uint64_t frame = 0;  // of its SYN
  std::uint64_t service = 0;
  Bytes request{};  // private data
  Bytes reply{};
  bool is_seen_whole = true;  // its handshake, and not a synthesized one
  bool is_requested = false;
  bool is_answered = false;
  bool is_rejected = false;
  enum class End { kNone, kByInitiator, kByResponder, kBroken } end = End::kNone;
  std::vector<Message>
      messages{};  // requests of both sides, in the order of time, but those that were sent again later
};

// All connections of the file, in the order in which they begin. Failure.
std::vector<Connection> read_recording(const std::string& file);

}  // namespace softdat::tools::capture
