// SPDX-License-Identifier: BSD-2-Clause
// Atomic operations on the consumer's memory, which may fault (base/fault_guard.h). Sequentially consistent. `target`
// is aligned to eight bytes. False: it faults, and nothing has been done.
#pragma once

#include <cstddef>
#include <cstdint>

namespace softdat::base {

// `value`: what is added; then what was there before.
[[nodiscard]] bool fetch_add(std::byte* target, std::uint64_t& value);

// Stores `desired` if `value` is there. `value`: then what was there before.
[[nodiscard]] bool compare_exchange(std::byte* target, std::uint64_t& value, std::uint64_t desired);

}  // namespace softdat::base
