// SPDX-License-Identifier: BSD-2-Clause
// Copies as a NIC places bytes: ascending addresses, each byte stored exactly once, the last bytes
// last. Programs poll the tail of a buffer that a peer writes, so the order is a promise (memcpy
// stores the tail first, or twice).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace softdat::base {

void copy_ordered_at_length(std::byte* to, const std::byte* from, std::size_t length);

// `to` and `from` must not overlap. A reader that sees byte n (with an acquire load) sees every
// byte before it.
inline void copy_ordered(std::byte* to, const std::byte* from, std::size_t length) {
  std::uint64_t word;
  if (length != sizeof word || reinterpret_cast<std::uintptr_t>(to) % sizeof word != 0) {
    return copy_ordered_at_length(to, from, length);
  }
  std::memcpy(&word, from, sizeof word);
  std::memcpy(to, &word, sizeof word);
  asm volatile("" ::: "memory");  // one store, and where it stands
}

}  // namespace softdat::base
