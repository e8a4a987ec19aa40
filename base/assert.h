// SPDX-License-Identifier: BSD-2-Clause
// Assertions about our own code. A consumer's or a peer's mistake is never one.
#pragma once

#include <cstdint>
#include <source_location>

namespace softdat::base {

// Prints where, what and the two values that matter, then aborts.
[[noreturn]] void fail_assertion(const char* what, std::uint64_t a, std::uint64_t b, std::source_location where);

// Aborts with `what` and the values unless `holds`. Always on: a wrong NIC is worse than a dead
// one.
inline void check(bool holds, const char* what, std::uint64_t a = 0, std::uint64_t b = 0,
                  std::source_location where = std::source_location::current()) {
  if (!holds) [[unlikely]]
    fail_assertion(what, a, b, where);
}

}  // namespace softdat::base
