// SPDX-License-Identifier: BSD-2-Clause
// DDP and RDMAP headers and the body of a Terminate, beyond what a whole stream reaches: total, and what is decoded
// encodes to the same bytes.
#include <algorithm>
#include <array>

#include "tests/fuzz/fuzz.h"
#include "transport/tcp/segment.h"
#include "transport/tcp/terminate.h"

namespace softdat::fuzz {
namespace {

using namespace softdat::transport::tcp;

void check_segment(std::span<const std::byte> bytes) {
  if (bytes.size() < 4) return;
  const auto length =
      static_cast<std::uint16_t>(std::to_integer<unsigned>(bytes[0]) << 8 | std::to_integer<unsigned>(bytes[1]));
  const auto shape = decode_shape(length, bytes.subspan(2, 2));
  if (!shape.ok() || bytes.size() < 2 + shape.value().head_size()) return;
  expect(shape.value().head_size() + shape.value().payload == length, "headers and payload are the whole ULPDU");
  expect(shape.value().head_size() <= kMaxHeadSize, "no header is longer than the longest");
  const Segment segment = decode_segment(shape.value(), bytes.subspan(2, shape.value().ddp_size));
  std::array<std::byte, kMaxHeadSize> encoded{};
  const std::size_t size = encode_segment(segment, encoded.data());
  expect(size == shape.value().ddp_size, "a segment encodes to as many bytes as it came in");
}

}  // namespace

void run_input(Input bytes) {
  check_segment(bytes);
  if (bytes.size() < 4) return;
  const Terminate terminate = decode_terminate(bytes);
  if (terminate.ddp_header.size() > 18 || terminate.rdmap_header.size() > 28) return;
  std::array<std::byte, kMaxTerminateSize> encoded{};
  const std::size_t length = encode_terminate(terminate, encoded.data());
  expect(length <= kMaxTerminateSize, "a Terminate has a largest bytes.size()");
  expect(decode_terminate(std::span(encoded).first(length)).code == terminate.code, "the code survives");
}

}  // namespace softdat::fuzz
