// SPDX-License-Identifier: BSD-2-Clause
// Copies from and to the consumer's memory. copy_ordered() stores bytes as a NIC does: in ascending order, each once,
// the last bytes last. Programs poll the tail of a buffer that a peer writes, so this order is promised (memcpy may
// store the tail first, or twice).
//
// Either side may fault (base/fault_guard.h). A copy then returns false; some leading bytes may have been copied. Any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/fault_guard.h"

namespace softdat::base {

[[nodiscard]] bool copy_ordered_at_length(std::byte* to, const std::byte* from, std::size_t length);
[[nodiscard]] bool copy_in_at_length(std::byte* to, const std::byte* from, std::size_t length);

#if defined(__x86_64__)
// REQUIRES: FaultMode::kHandler.
[[nodiscard]] inline bool move_eight_bytes(std::byte* to, const std::byte* from) {
  asm goto(SOFTDAT_GUARDED("movq (%[from]), %%rax\nmovq %%rax, (%[to])", fault)
           :
           : [from] "r"(from), [to] "r"(to)
           : "rax", "memory"
           : fault);
  return true;
fault:
  return false;
}
#endif

// REQUIRES: `to` and `from` do not overlap. A reader that loads byte n with acquire sees all bytes before it.
[[nodiscard]] inline bool copy_ordered(std::byte* to, const std::byte* from, std::size_t length) {
#if defined(__x86_64__)
  const bool is_word = length == 8 && reinterpret_cast<std::uintptr_t>(to) % 8 == 0;
  if (is_word && fault_mode == FaultMode::kHandler) return move_eight_bytes(to, from);
#endif
  return copy_ordered_at_length(to, from, length);
}

// Copies into the library's own memory, in any order. REQUIRES: no other thread reads `to` meanwhile.
[[nodiscard]] inline bool copy_in(std::byte* to, const std::byte* from, std::size_t length) {
#if defined(__x86_64__)
  if (length == 8 && fault_mode == FaultMode::kHandler) return move_eight_bytes(to, from);
#endif
  return copy_in_at_length(to, from, length);
}

// Whether all pages of the range can be read now.
[[nodiscard]] bool is_readable(const std::byte* from, std::size_t length);

// Whether all pages of the range can be written now. Changes no byte, even while other threads write there.
[[nodiscard]] bool is_writable(std::byte* to, std::size_t length);

}  // namespace softdat::base
