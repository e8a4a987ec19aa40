// SPDX-License-Identifier: BSD-2-Clause
#include "base/byte_order.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace softdat::base {
namespace {

TEST(ByteOrder, StoresTheHighByteFirst) {
  std::array<std::byte, 8> bytes{};
  store_be<std::uint64_t>(bytes.data(), 0x0102030405060708u);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(bytes[static_cast<std::size_t>(i)], std::byte(i + 1));
}

TEST(ByteOrder, LoadsWhatItStoredAtAnyAlignment) {
  std::array<std::byte, 16> bytes{};
  for (std::size_t at = 0; at < 8; ++at) {
    store_be<std::uint32_t>(&bytes[at], 0xdeadbeefu);
    EXPECT_EQ(load_be<std::uint32_t>(&bytes[at]), 0xdeadbeefu);
    store_be<std::uint16_t>(&bytes[at], 0xfffeu);
    EXPECT_EQ(load_be<std::uint16_t>(&bytes[at]), 0xfffeu);
  }
}

}  // namespace
}  // namespace softdat::base
