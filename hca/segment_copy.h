// SPDX-License-Identifier: BSD-2-Clause
// Copies of segments without store-forwarding stalls. A processor cannot forward two small stores to one wide load: the
// load waits until both stores have reached the cache, some 4 ns. A program writes its triplet field by field right
// before the post, and a copy of the struct is one load of 16 bytes. So the fields are loaded one by one, and the copy
// is stored and loaded as two words.
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
