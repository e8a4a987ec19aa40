// SPDX-License-Identifier: BSD-2-Clause
// Network byte order, read and written byte by byte: no alignment is asked of the buffer, no struct
// is cast onto it.
#pragma once

#include <concepts>
#include <cstddef>

namespace softdat::base {

template <std::unsigned_integral T>
constexpr T load_be(const std::byte* from) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>((static_cast<std::size_t>(value) << 8) | std::to_integer<T>(from[i]));
  }
  return value;
}

template <std::unsigned_integral T>
constexpr void store_be(std::byte* to, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    to[i] = static_cast<std::byte>(static_cast<std::size_t>(value) >> (8 * (sizeof(T) - 1 - i)));
  }
}

}  // namespace softdat::base
