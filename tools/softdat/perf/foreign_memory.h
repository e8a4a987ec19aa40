// SPDX-License-Identifier: BSD-2-Clause
// Memory that the other side writes and reads whenever it likes. Every access of ours goes through here: each is one
// that a race checker need not judge, for it does not see the completions that order them in memory of two processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/unjudged.h"

namespace softdat::tools::perf {

// What was written before the byte is seen after it.
SOFTDAT_UNJUDGED inline std::uint8_t foreign_byte(const std::uint8_t* byte) {
  return __atomic_load_n(byte, __ATOMIC_ACQUIRE);
}
SOFTDAT_UNJUDGED inline void set_foreign_byte(std::uint8_t* byte, std::uint8_t value) {
  __atomic_store_n(byte, value, __ATOMIC_RELAXED);
}
// Up to eight bytes; the rest of the word is 0.
SOFTDAT_UNJUDGED inline std::uint64_t foreign_word(const std::uint8_t* bytes, std::size_t length = 8) {
  std::uint64_t word = 0;
  if (length == sizeof word) {
    __builtin_memcpy(&word, bytes, sizeof word);
  } else {
    for (std::size_t i = 0; i < length; ++i) word |= std::uint64_t{bytes[i]} << 8 * i;
  }
  return word;
}
SOFTDAT_UNJUDGED inline void set_foreign_word(std::uint8_t* bytes, std::uint64_t word, std::size_t length = 8) {
  if (length == sizeof word) {
    __builtin_memcpy(bytes, &word, sizeof word);
  } else {
    for (std::size_t i = 0; i < length; ++i) bytes[i] = static_cast<std::uint8_t>(word >> 8 * i);
  }
}

std::string foreign_text(const std::uint8_t* bytes, std::size_t length);
void set_foreign_text(std::uint8_t* bytes, const std::string& text);

}  // namespace softdat::tools::perf
