// SPDX-License-Identifier: BSD-2-Clause
#include "base/prefetch.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

namespace softdat::base {
namespace {

TEST(Prefetch, AnyAddressWill) {
  prefetch_to_write(nullptr);
  prefetch_to_write(reinterpret_cast<const void*>(~std::uintptr_t{0}));
  char byte = 'x';
  prefetch_to_write(&byte);
  EXPECT_EQ(byte, 'x');
}

#if defined(__x86_64__)
// __builtin_prefetch(line, 1) would fetch the line for reading.
TEST(Prefetch, AsksForTheLineToWriteIt) {
  constexpr std::string_view kPrefetchw("\x0f\x0d", 2);
  constexpr std::size_t kLongest = 64;  // bytes that the function takes, with what sanitizers add
  const std::string_view code(reinterpret_cast<const char*>(&prefetch_to_write), kLongest);
  EXPECT_NE(code.find(kPrefetchw), std::string_view::npos);
}
#endif

}  // namespace
}  // namespace softdat::base
