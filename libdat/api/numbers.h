// SPDX-License-Identifier: BSD-2-Clause
// Between the counts of DAT, which are signed ints, and those of everything below.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "libdat/object/socket_address.h"

namespace softdat::api {

// The largest count DAT can express stands for everything beyond it.
constexpr int dat_count(std::uint64_t number) {
  constexpr std::uint64_t kLargest = std::numeric_limits<int>::max();
  return static_cast<int>(std::min(number, kLargest));
}

// Lengths of DAT 2.0 segments and messages have 32 bits.
constexpr std::uint32_t length32(std::uint64_t length) {
  constexpr std::uint64_t kLargest = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::min(length, kLargest));
}

// The largest I/O vector that a post takes, whatever the device could: DAT 1.2 vectors are rewritten
// on the stack.
inline constexpr int kLargestIov = 128;

// Addresses are handed to consumers as pointers to non-const, which the DAT headers want.
inline sockaddr* dat_address(const object::SocketAddress* address) {
  return reinterpret_cast<sockaddr*>(const_cast<object::SocketAddress*>(address));
}

// Fills a DAT name; what does not fit is cut off, and the last byte is always the terminator.
template <std::size_t kSize>
void copy_name(char (&destination)[kSize], std::string_view name) {
  const std::size_t length = name.copy(destination, kSize - 1);
  std::fill(destination + length, destination + kSize, '\0');
}

}  // namespace softdat::api
