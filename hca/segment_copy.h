// SPDX-License-Identifier: BSD-2-Clause
// Copies of segments that have just been written. A processor that reads what it has just stored in smaller pieces
// waits until these have left its store buffer, some 4 ns. So the fields of a program's triplet are read one by one,
// and a copy of them is written and read as two words. A copy of the struct would be one load of 16 bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hca/types.h"

namespace softdat::hca {

static_assert(offsetof(Segment, length) == sizeof(std::uint64_t) && std::endian::native == std::endian::little);

// Reads a field that the program may write meanwhile. The compiler does not unite it with the load of another.
template <typename T>
T read_alone(const T& field) {
  // By a named reference, because clang 14 ignores the qualifier of a cast.
  const volatile T& alone = field;
  return alone;
}

inline void write_words(Segment& to, std::uint64_t address, std::uint32_t length, std::uint32_t lkey) {
  const std::uint64_t rest = length | std::uint64_t{lkey} << 32;
  auto* const bytes = reinterpret_cast<std::byte*>(&to);
  std::memcpy(bytes, &address, sizeof address);
  std::memcpy(bytes + sizeof address, &rest, sizeof rest);
}

// Quick for what write_words() has written, right for all.
inline void copy_words(const Segment& from, Segment& to) {
  std::uint64_t rest;
  std::memcpy(&rest, reinterpret_cast<const std::byte*>(&from) + sizeof from.address, sizeof rest);
  write_words(to, read_alone(from.address), static_cast<std::uint32_t>(rest), static_cast<std::uint32_t>(rest >> 32));
}

}  // namespace softdat::hca
