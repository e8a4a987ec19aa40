// SPDX-License-Identifier: BSD-2-Clause
// Values by which the sanitizer marks what a program gets. Constants: any thread, no errors.
#pragma once

#include <cstdint>

namespace softdat::sanitize {

// What an undefined field of an event is filled with.
inline constexpr unsigned char kVoidByte = 0xd5;
inline constexpr std::uint32_t kVoidWord = 0xd5d5d5d5;
inline constexpr std::uint64_t kVoidLong = 0xd5d5d5d5d5d5d5d5;

// The lmr_context that a program sees has this bit the other way round: it differs from the rmr_context.
inline constexpr std::uint32_t kLocalMark = 0x80000000;

}  // namespace softdat::sanitize
