// SPDX-License-Identifier: BSD-2-Clause
#include "base/ordered_copy.h"

#include <cstdint>
#include <cstring>

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

}  // namespace

void copy_ordered(std::byte* to, const std::byte* from, std::size_t length) {
  while (length >= sizeof(Vector)) move_word<Vector>(to, from, length);
  if (length >= 8) move_word<std::uint64_t>(to, from, length);
  if (length >= 4) move_word<std::uint32_t>(to, from, length);
  if (length >= 2) move_word<std::uint16_t>(to, from, length);
  if (length >= 1) move_word<std::uint8_t>(to, from, length);
}

}  // namespace softdat::base
