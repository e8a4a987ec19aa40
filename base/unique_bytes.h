// SPDX-License-Identifier: BSD-2-Clause
// Identifiers that are unique on this host, also across processes that come one after the other.
#pragma once

#include <cstdint>
#include <span>

namespace softdat::base {

// Fills `bytes` with an identifier that no other call on this host gets. It is random; if getrandom() is denied, as a
// seccomp filter may do, it is made of the process id, the time and a counter. Not for secrets. Any thread; never
// blocks.
void fill_with_unique_bytes(std::span<std::uint8_t> bytes);

}  // namespace softdat::base
