// SPDX-License-Identifier: BSD-2-Clause
// A buffer is larger than what is read into it. AddressSanitizer is told where the bytes end, and so finds a decoder
// that reads further.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#if defined(__SANITIZE_ADDRESS__)
#define SOFTDAT_POISONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SOFTDAT_POISONS 1
#endif
#endif

#ifdef SOFTDAT_POISONS
#include <sanitizer/asan_interface.h>
#endif

namespace softdat::fuzz {

// Without AddressSanitizer they do nothing.
inline void poison([[maybe_unused]] const void* from, [[maybe_unused]] std::size_t length) {
#ifdef SOFTDAT_POISONS
  __asan_poison_memory_region(from, length);
#endif
}
inline void unpoison([[maybe_unused]] const void* from, [[maybe_unused]] std::size_t length) {
#ifdef SOFTDAT_POISONS
  __asan_unpoison_memory_region(from, length);
#endif
}

// Copies `bytes` to the beginning of a room of `room` bytes, as the kernel would. Reading the bytes behind them is an
// error until they are written by this function again.
inline void fill_and_poison_rest(std::byte* to, std::span<const std::byte> bytes, std::size_t room) {
  // Poison is one word of shadow per eight bytes; an overrun of a decoder is short.
  constexpr std::size_t kMostPoison = 512;
  unpoison(to, std::min(room, bytes.size() + kMostPoison));
  if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  poison(to + bytes.size(), std::min(room - bytes.size(), kMostPoison));
}

}  // namespace softdat::fuzz
