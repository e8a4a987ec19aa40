// SPDX-License-Identifier: BSD-2-Clause
#include "base/narrow.h"

#include <gtest/gtest.h>

#include <limits>

namespace softdat::base {
namespace {

TEST(Narrow, KeepsWhatFits) {
  EXPECT_EQ(narrow<std::uint32_t>(std::uint64_t{0xffff'ffff}), 0xffff'ffffu);
  EXPECT_EQ(narrow<std::int32_t>(std::uint32_t{0x7fff'ffff}), std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(narrow<std::int8_t>(-128), -128);
  static_assert(narrow<std::uint16_t>(65'535) == 65'535);
}

TEST(NarrowDeathTest, EndsAtWhatDoesNot) {
  EXPECT_DEATH(static_cast<void>(narrow<std::uint32_t>(std::uint64_t{0x1'0000'0005})), "fits the type.*4294967301");
  EXPECT_DEATH(static_cast<void>(narrow<std::uint32_t>(-1)), "fits the type");
  EXPECT_DEATH(static_cast<void>(narrow<std::int32_t>(std::uint32_t{0x8000'0000})), "fits the type");
}

}  // namespace
}  // namespace softdat::base
