// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/terminate.h"

#include <algorithm>
#include <new>

#include "base/assert.h"
#include "base/byte_order.h"
#include "transport/tcp/opcode_table.h"
#include "transport/tcp/segment.h"

namespace softdat::transport::tcp {
namespace {

using base::load_be;
using base::store_be;

// HdrCt, in the third byte of the control field.
constexpr std::uint8_t kHasLength = 0x80;
constexpr std::uint8_t kHasDdpHeader = 0x40;
constexpr std::uint8_t kHasRdmapHeader = 0x20;
// Linux's soft iWARP driver writes the control field as a little-endian processor lays out bit
// fields: layer and type change places, and HdrCt stands in the low bits.
constexpr std::uint8_t kLinuxHeaderBits = 0x07;

constexpr std::size_t kReadRequestBody = 28;
constexpr std::uint8_t kTaggedBit = 0x80;
constexpr std::uint8_t kOpcodeMask = 0x0f;

bool is_about_a_segment(const TerminateCode& code) {
  const bool is_local = code.layer == 0 && code.type == 0;
  return code.layer < 2 && !is_local;
}

bool is_tagged_head(std::span<const std::byte> head) {
  return (std::to_integer<std::uint8_t>(head[0]) & kTaggedBit) != 0;
}

bool is_read_request(std::span<const std::byte> head) {
  return (std::to_integer<std::uint8_t>(head[1]) & kOpcodeMask) == static_cast<std::uint8_t>(Opcode::kReadRequest);
}

std::byte* append(std::byte* to, std::span<const std::byte> bytes) {
  return std::copy(bytes.begin(), bytes.end(), to);
}

struct Control {
  TerminateCode code;
  std::uint8_t quoted;
};

Control decode_control(std::span<const std::byte> body) {
  const auto first = std::to_integer<std::uint8_t>(body[0]);
  const auto bits = std::to_integer<std::uint8_t>(body[2]);
  TerminateCode code{.layer = static_cast<std::uint8_t>(first >> 4),
                     .type = static_cast<std::uint8_t>(first & 0xf),
                     .code = std::to_integer<std::uint8_t>(body[1])};
  const bool is_linux = (bits & ~kLinuxHeaderBits & 0xff) == 0 && bits != 0;
  if (!is_linux) return {code, bits};
  std::swap(code.layer, code.type);
  const int quoted = ((bits & 1) != 0 ? kHasLength : 0) | ((bits & 2) != 0 ? kHasDdpHeader : 0) |
                     ((bits & 4) != 0 ? kHasRdmapHeader : 0);
  return {code, static_cast<std::uint8_t>(quoted)};
}

// Moves `length` bytes from the front of `rest` into `to`, or nothing when there are fewer.
void take(std::span<const std::byte>& rest, std::size_t length, std::vector<std::byte>& to) {
  if (rest.size() < length) return;
  to.assign(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(length));
  rest = rest.subspan(length);
}

}  // namespace

// A Terminate must go out. Out of memory, it goes without the quoted headers.
Terminate make_terminate(const TerminateCode& code, std::uint16_t segment_length, std::span<const std::byte> head) try {
  Terminate terminate{.code = code};
  if (!is_about_a_segment(code) || head.size() < kTaggedHeadSize) return terminate;
  const std::size_t ddp_size = is_tagged_head(head) ? kTaggedHeadSize : kUntaggedHeadSize;
  terminate.segment_length = segment_length;
  take(head, ddp_size, terminate.ddp_header);
  if (terminate.ddp_header.size() == kUntaggedHeadSize && is_read_request(terminate.ddp_header)) {
    take(head, kReadRequestBody, terminate.rdmap_header);
  }
  return terminate;
} catch (const std::bad_alloc&) {
  return {.code = code};
}

// RFC 5040 section 4.8: error code, which headers follow, the length of the segment, its DDP header, and for a Read
// Request its RDMAP header.
std::size_t encode_terminate(const Terminate& terminate, std::byte* to) {
  const TerminateCode& code = terminate.code;
  to[0] = static_cast<std::byte>((code.layer << 4) | (code.type & 0xf));
  to[1] = std::byte{code.code};
  to[2] = static_cast<std::byte>((terminate.segment_length ? kHasLength : 0) |
                                 (terminate.ddp_header.empty() ? 0 : kHasDdpHeader) |
                                 (terminate.rdmap_header.empty() ? 0 : kHasRdmapHeader));
  to[3] = std::byte{0};
  std::byte* at = to + 4;
  if (terminate.segment_length) {
    store_be(at, *terminate.segment_length);
    at += 2;
  }
  at = append(at, terminate.ddp_header);
  at = append(at, terminate.rdmap_header);
  base::check(at - to <= static_cast<std::ptrdiff_t>(kMaxTerminateSize), "a Terminate quotes one head",
              static_cast<std::uint64_t>(at - to));
  return static_cast<std::size_t>(at - to);
}

// A peer may quote less than it says: what is missing stays empty, and the code counts.
Terminate decode_terminate(std::span<const std::byte> body) {
  SOFTDAT_DEBUG_CHECK(body.size() >= 4, "decode_shape() refuses a Terminate without its control field", body.size());
  const Control control = decode_control(body);
  Terminate terminate{.code = control.code};
  std::span<const std::byte> rest = body.subspan(4);
  if ((control.quoted & kHasLength) != 0 && rest.size() >= 2) {
    terminate.segment_length = load_be<std::uint16_t>(rest.data());
    rest = rest.subspan(2);
  }
  if ((control.quoted & kHasDdpHeader) != 0 && !rest.empty()) {
    take(rest, is_tagged_head(rest) ? kTaggedHeadSize : kUntaggedHeadSize, terminate.ddp_header);
  }
  if ((control.quoted & kHasRdmapHeader) != 0) take(rest, kReadRequestBody, terminate.rdmap_header);
  return terminate;
}

}  // namespace softdat::transport::tcp
