// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/service_port.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace softdat::verbs {
namespace {

TEST(ServicePortTest, WhatFitsIsThePort) {
  for (const std::uint64_t service : {1u, 1024u, 45248u, 65535u}) EXPECT_EQ(port_of_service(service), service);
}

TEST(ServicePortTest, OthersKeepAwayFromPortsThatSystemsUse) {
  for (std::uint64_t service = 65536; service < 75536; ++service) {
    EXPECT_GE(port_of_service(service * 0x10001), 16384);
    EXPECT_LT(port_of_service(service * 0x10001), 32768);
  }
  EXPECT_GE(port_of_service(0), 16384);
}

// Programs count their services up.
TEST(ServicePortTest, NeighboursOfOneBlockNeverMeet) {
  constexpr std::uint64_t kBlock = 16384;
  const std::uint64_t first = std::uint64_t{6754} << 24;
  std::set<std::uint16_t> ports;
  for (std::uint64_t service = first; service < first + kBlock; ++service) ports.insert(port_of_service(service));
  EXPECT_EQ(ports.size(), kBlock);
}

// Blocks lie anywhere: equal places in them are spread over all ports.
TEST(ServicePortTest, BlocksAreSpread) {
  std::set<std::uint16_t> ports;
  for (std::uint64_t block = 1; block <= 64; ++block) ports.insert(port_of_service(block << 24));
  EXPECT_GE(ports.size(), 60u);
}

}  // namespace
}  // namespace softdat::verbs
