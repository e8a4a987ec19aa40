// SPDX-License-Identifier: BSD-2-Clause
// Every access to the consumer's memory: copies as a NIC places bytes, and the touch before an access that must not
// fail halfway. Ascending addresses, each byte stored exactly once, the last bytes last. Programs poll the tail of a
// buffer that a peer writes, so the order is a promise (memcpy stores the tail first, or twice).
//
// Either side of a copy may fault (base/fault_guard.h): the memory is unmapped, truncated or protected. The answer is
// then false, and some of the first bytes may have been copied.
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

// REQUIRES: `to` and `from` do not overlap. A reader that sees byte n (with an acquire load) sees every byte before it.
[[nodiscard]] inline bool copy_ordered(std::byte* to, const std::byte* from, std::size_t length) {
#if defined(__x86_64__)
  const bool is_word = length == 8 && reinterpret_cast<std::uintptr_t>(to) % 8 == 0;
  if (is_word && fault_mode == FaultMode::kHandler) return move_eight_bytes(to, from);
#endif
  return copy_ordered_at_length(to, from, length);
}

// The same into memory of ours, which nobody reads meanwhile, so in any order.
[[nodiscard]] inline bool copy_in(std::byte* to, const std::byte* from, std::size_t length) {
#if defined(__x86_64__)
  if (length == 8 && fault_mode == FaultMode::kHandler) return move_eight_bytes(to, from);
#endif
  return copy_in_at_length(to, from, length);
}

// Whether every page of the bytes can be read at this moment.
[[nodiscard]] bool is_readable(const std::byte* from, std::size_t length);

// Whether every page of the bytes can be written at this moment. Changes nothing, also while others write there.
[[nodiscard]] bool is_writable(std::byte* to, std::size_t length);

}  // namespace softdat::base
