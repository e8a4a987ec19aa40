// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/perf/pattern.h"

#include <algorithm>
#include <bit>

#include "tools/softdat/perf/foreign_memory.h"

namespace softdat::tools::perf {
namespace {

static_assert(std::endian::native == std::endian::little, "words are compared byte by byte");

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
    set_foreign_word(bytes + at, word, std::min(sizeof word, length - at));
  }
}

std::optional<std::size_t> find_difference(const std::uint8_t* bytes, std::size_t length, std::uint64_t seed) {
  std::uint64_t word = first_word(seed);
  for (std::size_t at = 0; at < length; at += sizeof word, word += kStep) {
    const std::size_t here = std::min(sizeof word, length - at);
    const std::uint64_t expected = here == sizeof word ? word : word & ((std::uint64_t{1} << 8 * here) - 1);
    const std::uint64_t wrong = foreign_word(bytes + at, here) ^ expected;
    if (wrong != 0) return at + static_cast<std::size_t>(std::countr_zero(wrong)) / 8;
  }
  return std::nullopt;
}

}  // namespace softdat::tools::perf
