// SPDX-License-Identifier: BSD-2-Clause
// The entry that clang's fuzzer calls.
#include <cstdint>

#include "tests/transport/tcp/inbound_harness.h"
#include "transport/tcp/mpa_frame.h"
#include "transport/tcp/private_block.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace softdat::transport::tcp;
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  feed_any(bytes);
  for (const MpaFrameKind kind : {MpaFrameKind::kRequest, MpaFrameKind::kReply}) {
    const auto frame = decode_mpa_frame(kind, bytes);
    if (frame.ok()) decode_private_data(frame.value().private_data);
  }
  return 0;
}
