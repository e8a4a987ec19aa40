// SPDX-License-Identifier: BSD-2-Clause
// Bytes by which things are told apart, across processes and their lives.
#pragma once

#include <cstdint>
#include <span>

namespace softdat::base {

// Fills `bytes` with what no other call on this host gets. Random where the system has random numbers for us; where it
// refuses them (a seccomp filter may deny getrandom()), made from the process, the time and a counter. Not for secrets.
// Any thread; never blocks.
void fill_with_unique_bytes(std::span<std::uint8_t> bytes);

}  // namespace softdat::base
