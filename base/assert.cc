// SPDX-License-Identifier: BSD-2-Clause
#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace softdat::base {

void fail_assertion(const char* what, std::uint64_t a, std::uint64_t b, std::source_location where) {
  std::fprintf(stderr, "softdat: assertion failed at %s:%u (%s): %s [%llu, %llu]\n", where.file_name(),
               static_cast<unsigned>(where.line()), where.function_name(), what, static_cast<unsigned long long>(a),
               static_cast<unsigned long long>(b));
  std::abort();
}

}  // namespace softdat::base
