// SPDX-License-Identifier: BSD-2-Clause
// expect_soon() runs what must not hang.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "base/clock.h"

namespace softdat {

// What stands in place of "for ever".
inline constexpr base::Duration kHang = std::chrono::seconds(20);

// Says how long `what` took.
template <typename What>
void expect_soon(const char* name, const What& what) {
  const base::Time begin = base::Clock::now();
  what();
  const base::Duration took = base::Clock::now() - begin;
  std::printf("%s took %lld us\n", name,
              static_cast<long long>(std::chrono::duration_cast<std::chrono::microseconds>(took).count()));
  EXPECT_LT(took, kHang) << name;
}

}  // namespace softdat
