// SPDX-License-Identifier: BSD-2-Clause
// Reading and writing numbers in network byte order (big endian), and in little endian. The buffer needs no alignment.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace softdat::base {

// The value with its bytes in the opposite order.
template <std::unsigned_integral T>
constexpr T swap_bytes(T value) {
  static_assert(sizeof(T) <= 8);
  if constexpr (sizeof(T) == 1) return value;
  if constexpr (sizeof(T) == 2) return __builtin_bswap16(value);
  if constexpr (sizeof(T) == 4) return __builtin_bswap32(value);
  if constexpr (sizeof(T) == 8) return __builtin_bswap64(value);
}

// Host to network order, or back.
template <std::unsigned_integral T>
constexpr T swap_to_be(T value) {
  return std::endian::native == std::endian::big ? value : swap_bytes(value);
}

// Host order to little endian, or back.
template <std::unsigned_integral T>
constexpr T swap_to_le(T value) {
  return std::endian::native == std::endian::little ? value : swap_bytes(value);
}

template <std::unsigned_integral T>
T load_be(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return swap_to_be(value);
}

template <std::unsigned_integral T>
void store_be(std::byte* to, T value) {
  value = swap_to_be(value);
  std::memcpy(to, &value, sizeof value);
}

template <std::unsigned_integral T>
T load_le(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return swap_to_le(value);
}

template <std::unsigned_integral T>
void store_le(std::byte* to, T value) {
  value = swap_to_le(value);
  std::memcpy(to, &value, sizeof value);
}

}  // namespace softdat::base
