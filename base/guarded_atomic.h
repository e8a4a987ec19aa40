// SPDX-License-Identifier: BSD-2-Clause
// Atomic operations on 64-bit words of the consumer's memory. Sequentially consistent. Any thread.
// REQUIRES: `target` is aligned to 8 bytes. Returns false if `target` faults (base/fault_guard.h); it is then
// unchanged.
#pragma once

#include <cstddef>
#include <cstdint>

namespace softdat::base {

// Adds `value` to the word, and sets `value` to the word's previous number.
[[nodiscard]] bool fetch_add(std::byte* target, std::uint64_t& value);

// Stores `desired` if the word equals `value`, and sets `value` to the word's previous number.
[[nodiscard]] bool compare_exchange(std::byte* target, std::uint64_t& value, std::uint64_t desired);

}  // namespace softdat::base
