// SPDX-License-Identifier: BSD-2-Clause
// Assertions about our own code. A consumer's or a peer's mistake is never one.
#pragma once

#include <cstdint>

namespace softdat::base {

// Prints where, what and the two values that matter, then aborts.
[[noreturn]] void fail_assertion(const char* what, std::uint64_t a, std::uint64_t b, const char* file, int line);

// Aborts with `what` and the values unless `holds`. Always on: a wrong NIC is worse than a dead one. (The builtins
// stand in for std::source_location, which clang 14 cannot compile.)
inline void check(bool holds, const char* what, std::uint64_t a = 0, std::uint64_t b = 0,
                  const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (!holds) [[unlikely]]
    fail_assertion(what, a, b, file, line);
}

}  // namespace softdat::base

// base::check() in Debug builds (debug, asan, tsan) only, for checks that would cost a release build time. In other
// builds the arguments are compiled and never evaluated.
#ifdef NDEBUG
#define SOFTDAT_DEBUG_CHECK(...) static_cast<void>(sizeof((::softdat::base::check(__VA_ARGS__), 0)))
#else
#define SOFTDAT_DEBUG_CHECK(...) ::softdat::base::check(__VA_ARGS__)
#endif
