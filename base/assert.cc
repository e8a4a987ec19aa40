// SPDX-License-Identifier: BSD-2-Clause
#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace softdat::base {

void fail_assertion(const char* what, std::uint64_t a, std::uint64_t b, const char* file, int line) {
  // No log(): the broken state may be the log's own, or its lock may be held.
  std::fprintf(stderr, "softdat: assertion failed at %s:%d: %s [%llu, %llu]\n", file, line, what,
               static_cast<unsigned long long>(a), static_cast<unsigned long long>(b));
  std::abort();
}

}  // namespace softdat::base
