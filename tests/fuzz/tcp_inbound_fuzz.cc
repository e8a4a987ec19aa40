// SPDX-License-Identifier: BSD-2-Clause
// An established TCP stream: any bytes in, messages or a fault out. The first byte chooses the rules and how it is cut.
// Its bit 6 makes a long stream of a short input: the next four bytes say where zeros are put in, and how many. Payload
// from 8 KiB on goes from the socket to its place, and needs no more bytes of the input than its head has.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_stream.h"
#include "tests/transport/tcp/inbound_harness.h"
#include "tests/transport/tcp/one_of_everything.h"

namespace softdat::fuzz {
namespace {

constexpr std::size_t kMostInput = 4096;
constexpr unsigned kStretches = 0x40;

// In memory of exactly its size, so that reading beyond it is found: the end of the array.
class Stretched {
 public:
  Input of(Input input) {
    constexpr std::size_t kHead = 5;
    if (input.size() < kHead || input.size() > kMostInput) return input;
    const auto number = [&](std::size_t at) {
      return std::to_integer<std::size_t>(input[at]) | std::to_integer<std::size_t>(input[at + 1]) << 8;
    };
    const Input bytes = input.subspan(kHead);
    const std::size_t place = number(1) % (bytes.size() + 1);
    const std::size_t zeros = number(3);
    std::byte* const begin = memory_.data() + memory_.size() - (1 + bytes.size() + zeros);
    *begin = input[0];
    std::copy_n(bytes.begin(), place, begin + 1);
    std::fill_n(begin + 1 + place, zeros, std::byte{});
    std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(place), bytes.end(), begin + 1 + place + zeros);
    return {begin, 1 + bytes.size() + zeros};
  }

 private:
  std::array<std::byte, 1 + kMostInput + 65535> memory_;
};

}  // namespace

void run_input(Input input) {
  static transport::tcp::InboundHarness harness;
  static Stretched stretched;
  if (input.empty()) return;
  MemoryStream stream;
  const bool stretches = (std::to_integer<unsigned>(input[0]) & kStretches) != 0;
  count_units("messages", harness.feed_any(stream, stretches ? stretched.of(input) : input).messages);
}

}  // namespace softdat::fuzz

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

// Sets out from a valid stream, under rules that the seed chooses: chance alone finds few heads that mean anything.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  using namespace softdat::transport::tcp;
  if (size < 2 && most > 1) {
    const Bytes stream = one_of_everything((seed & 1) != 0, 40);
    size = std::min(most, 1 + stream.size());
    data[0] = static_cast<std::uint8_t>(seed & 0x3f);
    std::memcpy(data + 1, stream.data(), size - 1);
  }
  return LLVMFuzzerMutate(data, size, most);
}
