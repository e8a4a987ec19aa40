// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/perf/pattern.h"

#include <algorithm>
#include <cstring>

namespace softdat::tools::perf {
namespace {

// An odd step visits every 64-bit number before it repeats one, so no two words of a message are alike.
constexpr std::uint64_t kStep = 0x9E37'79B9'7F4A'7C15;

std::uint64_t first_word(std::uint64_t seed) {
  seed = (seed + 1) * kStep;
  return seed ^ (seed >> 29);
}

}  // namespace

void fill_pattern(std::uint8_t* bytes, std::size_t length, std::uint64_t seed) {
  std::uint64_t word = first_word(seed);
  for (std::size_t at = 0; at < length; at += sizeof word, word += kStep) {
    std::memcpy(bytes + at, &word, std::min(sizeof word, length - at));
  }
}

std::optional<std::size_t> find_difference(const std::uint8_t* bytes, std::size_t length, std::uint64_t seed) {
  std::uint64_t word = first_word(seed);
  for (std::size_t at = 0; at < length; at += sizeof word, word += kStep) {
    std::uint8_t expected[sizeof word];
    std::memcpy(expected, &word, sizeof word);
    const std::size_t here = std::min(sizeof word, length - at);
    if (std::memcmp(bytes + at, expected, here) == 0) continue;
    const auto different = std::mismatch(bytes + at, bytes + at + here, expected).first;
    return static_cast<std::size_t>(different - bytes);
  }
  return std::nullopt;
}

}  // namespace softdat::tools::perf
