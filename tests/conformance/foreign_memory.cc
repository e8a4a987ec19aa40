// SPDX-License-Identifier: BSD-2-Clause
#include "tests/conformance/foreign_memory.h"

namespace softdat::conformance {

// By hand in each: what the library offers for it, the checker sees.
__attribute__((no_sanitize("thread"))) bool are_same_bytes(const unsigned char* one, const unsigned char* other,
                                                           std::size_t length) {
  for (std::size_t i = 0; i < length; ++i) {
    if (one[i] != other[i]) return false;
  }
  return true;
}

__attribute__((no_sanitize("thread"))) std::uint64_t foreign_word(const unsigned char* word) {
  return *reinterpret_cast<const volatile std::uint64_t*>(word);
}

__attribute__((no_sanitize("thread"))) void set_foreign_word(unsigned char* word, std::uint64_t value) {
  *reinterpret_cast<volatile std::uint64_t*>(word) = value;
}

}  // namespace softdat::conformance
