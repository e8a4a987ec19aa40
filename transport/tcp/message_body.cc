// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/message_body.h"

#include "base/assert.h"
#include "base/byte_order.h"
#include "transport/tcp/opcode_table.h"

namespace softdat::transport::tcp {
namespace {

using base::load_be;
using base::store_be;

constexpr std::uint32_t kAtomicCodeMask = 0xf;

// RFC 5040 section 4.4: sink STag and offset, message size, source STag and offset.
void encode_read_request(const Message& message, std::byte* to) {
  store_be(to, message.stag);
  store_be(to + 4, message.offset);
  store_be(to + 12, message.length);
  store_be(to + 16, message.source_stag);
  store_be(to + 20, message.source_offset);
}

void decode_read_request(const std::byte* from, Message& message) {
  message.stag = load_be<std::uint32_t>(from);
  message.offset = load_be<std::uint64_t>(from + 4);
  message.length = load_be<std::uint32_t>(from + 12);
  message.source_stag = load_be<std::uint32_t>(from + 16);
  message.source_offset = load_be<std::uint64_t>(from + 20);
}

// The Atomic Request header of RFC 7306: the swap or add data and its mask come before the compare data and its mask.
void encode_atomic_request(const Message& message, std::byte* to) {
  store_be(to, message.atomic_code & kAtomicCodeMask);
  store_be(to + 4, message.request_id);
  store_be(to + 8, message.source_stag);
  store_be(to + 12, message.source_offset);
  store_be(to + 20, message.operand);
  store_be(to + 28, message.operand_mask);
  store_be(to + 36, message.compare);
  store_be(to + 44, message.compare_mask);
}

void decode_atomic_request(const std::byte* from, Message& message) {
  message.atomic_code = load_be<std::uint32_t>(from) & kAtomicCodeMask;
  message.request_id = load_be<std::uint32_t>(from + 4);
  message.source_stag = load_be<std::uint32_t>(from + 8);
  message.source_offset = load_be<std::uint64_t>(from + 12);
  message.operand = load_be<std::uint64_t>(from + 20);
  message.operand_mask = load_be<std::uint64_t>(from + 28);
  message.compare = load_be<std::uint64_t>(from + 36);
  message.compare_mask = load_be<std::uint64_t>(from + 44);
}

}  // namespace

std::size_t encode_body(const Message& message, std::byte* to) {
  switch (message.opcode) {
    case Opcode::kReadRequest:
      encode_read_request(message, to);
      break;
    case Opcode::kAtomicRequest:
      encode_atomic_request(message, to);
      break;
    case Opcode::kAtomicResponse:
      store_be(to, message.request_id);
      store_be(to + 4, message.operand);
      break;
    case Opcode::kImmediate:
    case Opcode::kImmediateSolicited:
      store_be(to, message.operand);
      break;
    default:  // the others have none
      SOFTDAT_DEBUG_CHECK(row_of(message.opcode).body_size == 0, "every body of the table is encoded",
                          static_cast<std::uint64_t>(message.opcode));
      return 0;
  }
  return row_of(message.opcode).body_size;
}

void decode_body(std::span<const std::byte> body, Message& message) {
  SOFTDAT_DEBUG_CHECK(body.size() >= row_of(message.opcode).body_size, "decode_shape() refuses a body that is short",
                      body.size());
  const std::byte* from = body.data();
  switch (message.opcode) {
    case Opcode::kReadRequest:
      return decode_read_request(from, message);
    case Opcode::kAtomicRequest:
      return decode_atomic_request(from, message);
    case Opcode::kAtomicResponse:
      message.request_id = load_be<std::uint32_t>(from);
      message.operand = load_be<std::uint64_t>(from + 4);
      return;
    case Opcode::kImmediate:
    case Opcode::kImmediateSolicited:
      message.operand = load_be<std::uint64_t>(from);
      return;
    default:
      return;
  }
}

}  // namespace softdat::transport::tcp
