// SPDX-License-Identifier: BSD-2-Clause
// Copies as a NIC places bytes: ascending addresses, each byte stored exactly once, the last bytes
// last. Programs poll the tail of a buffer that a peer writes, so the order is a promise (memcpy
// stores the tail first, or twice).
#pragma once

#include <cstddef>

namespace softdat::base {

// `to` and `from` must not overlap. A reader that sees byte n (with an acquire load) sees every
// byte before it.
void copy_ordered(std::byte* to, const std::byte* from, std::size_t length);

}  // namespace softdat::base
