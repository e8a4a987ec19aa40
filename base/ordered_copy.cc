// SPDX-License-Identifier: BSD-2-Clause
#include "base/ordered_copy.h"

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace softdat::base {
namespace {

// The asm keeps the compiler from merging, re-ordering or turning the stores into a call of memcpy;
// x86-64 keeps stores in program order by itself.
inline void keep_order() {
  asm volatile("" ::: "memory");
}

template <typename Word>
inline void move_word(std::byte*& to, const std::byte*& from, std::size_t& length) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  std::memcpy(to, &word, sizeof word);
  keep_order();
  to += sizeof word;
  from += sizeof word;
  length -= sizeof word;
}

using Vector = std::uint64_t __attribute__((vector_size(16)));

// Up to a place where no store lies across two cache lines, whose halves could be seen in any order.
inline void align_target(std::byte*& to, const std::byte*& from, std::size_t& length) {
  const auto must_move = [&](std::uintptr_t size) {
    return (reinterpret_cast<std::uintptr_t>(to) & size) != 0 && length >= size;
  };
  if (must_move(1)) move_word<std::uint8_t>(to, from, length);
  if (must_move(2)) move_word<std::uint16_t>(to, from, length);
  if (must_move(4)) move_word<std::uint32_t>(to, from, length);
  if (must_move(8)) move_word<std::uint64_t>(to, from, length);
}

#if defined(__x86_64__)

// Where stores of 16 bytes, one in each cycle, would be what holds a copy up.
constexpr std::size_t kWorthWide = 256;
constexpr std::size_t kWide = 32;

bool has_wide_stores() {
  static const bool has = __builtin_cpu_supports("avx") != 0;
  return has;
}

// A multiple of kWide bytes.
__attribute__((target("avx"))) void copy_wide(std::byte* to, const std::byte* from, std::size_t length) {
#pragma GCC unroll 4
  for (std::size_t done = 0; done < length; done += kWide) {
    const __m256i word = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + done));
    _mm256_store_si256(reinterpret_cast<__m256i*>(to + done), word);
    keep_order();
  }
}

// Most of it. What programs watch is the end, which is left to stores that no processor makes in two.
inline void copy_bulk(std::byte*& to, const std::byte*& from, std::size_t& length) {
  if (reinterpret_cast<std::uintptr_t>(to) % kWide != 0) move_word<Vector>(to, from, length);
  const std::size_t bulk = (length - kWide) / kWide * kWide;
  copy_wide(to, from, bulk);
  to += bulk;
  from += bulk;
  length -= bulk;
}

#endif

}  // namespace

void copy_ordered_at_length(std::byte* to, const std::byte* from, std::size_t length) {
  if (reinterpret_cast<std::uintptr_t>(to) % sizeof(Vector) != 0) align_target(to, from, length);
#if defined(__x86_64__)
  if (length >= kWorthWide && has_wide_stores()) copy_bulk(to, from, length);
#endif
  while (length >= sizeof(Vector)) move_word<Vector>(to, from, length);
  if (length >= 8) move_word<std::uint64_t>(to, from, length);
  if (length >= 4) move_word<std::uint32_t>(to, from, length);
  if (length >= 2) move_word<std::uint16_t>(to, from, length);
  if (length >= 1) move_word<std::uint8_t>(to, from, length);
}

}  // namespace softdat::base
