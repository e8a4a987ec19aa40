// SPDX-License-Identifier: BSD-2-Clause
// An established TCP stream: any bytes in, messages or a fault out. The first byte chooses the rules and how it is cut.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "tests/transport/tcp/inbound_harness.h"
#include "tests/transport/tcp/one_of_everything.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  softdat::transport::tcp::feed_any(std::as_bytes(std::span(data, size)));
  return 0;
}

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

// Sets out from a valid stream, under rules that the seed chooses: chance alone finds few heads that mean anything.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  using namespace softdat::transport::tcp;
  if (size < 2 && most > 1) {
    const Bytes stream = one_of_everything((seed & 1) != 0, 40);
    size = std::min(most, 1 + stream.size());
    data[0] = static_cast<std::uint8_t>(seed);
    std::memcpy(data + 1, stream.data(), size - 1);
  }
  return LLVMFuzzerMutate(data, size, most);
}
