// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/sanitize/checksum.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "base/ordered_copy.h"

namespace softdat::sanitize {
namespace {

constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15;

std::uint64_t mix(std::uint64_t sum, std::uint64_t word) {
  const std::uint64_t product = (sum ^ word) * kFactor;
  return product ^ product >> 29;
}

std::uint64_t word_at(const std::byte* at, std::size_t length) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, length);
  return word;
}

// Four sums side by side: a multiplication takes longer than the load of the next word.
std::uint64_t add(std::uint64_t sum, const std::byte* at, std::size_t length) {
  std::array<std::uint64_t, 4> lanes{sum, 1, 2, 3};
  std::size_t i = 0;
  for (; i + 32 <= length; i += 32) {
    for (std::size_t lane = 0; lane < 4; ++lane) lanes[lane] = mix(lanes[lane], word_at(at + i + lane * 8, 8));
  }
  for (; i < length; i += 8) lanes[0] = mix(lanes[0], word_at(at + i, std::min<std::size_t>(8, length - i)));
  return mix(mix(lanes[0], lanes[1]), mix(lanes[2], lanes[3]) ^ length);
}

std::optional<std::uint64_t> checksum_of_word(const std::byte* from, std::size_t length, std::uint64_t before) {
  std::uint64_t word = 0;
  if (!base::copy_in(reinterpret_cast<std::byte*>(&word), from, length)) return std::nullopt;
  return mix(mix(before, word), length);
}

}  // namespace

// Works on copies: base::copy_in() answers false for memory that is gone, where a load would raise SIGSEGV.
std::optional<std::uint64_t> checksum(std::uint64_t address, std::uint64_t length, std::uint64_t before) {
  std::array<std::byte, 4096> copy;
  const auto* from = reinterpret_cast<const std::byte*>(address);  // NOLINT(performance-no-int-to-ptr)
  if (length <= sizeof(std::uint64_t)) return checksum_of_word(from, length, before);
  while (length > 0) {
    const std::size_t part = std::min<std::uint64_t>(length, copy.size());
    if (!base::copy_in(copy.data(), from, part)) return std::nullopt;
    before = add(before, copy.data(), part);
    from += part;
    length -= part;
  }
  return before;
}

std::optional<std::uint64_t> checksum(std::span<const Range> ranges) {
  std::optional<std::uint64_t> sum = 0;
  for (const Range& range : ranges) {
    if (sum) sum = checksum(range.address, range.length, *sum);
  }
  return sum;
}

}  // namespace softdat::sanitize
