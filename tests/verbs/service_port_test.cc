// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/service_port.h"

#include <gtest/gtest.h>

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

// Neighbours, which programs count up, do not meet.
TEST(ServicePortTest, NeighboursDiffer) {
  for (std::uint64_t service = std::uint64_t{1234} << 24; service < (std::uint64_t{1234} << 24) + 8; ++service) {
    EXPECT_NE(port_of_service(service), port_of_service(service + 1));
  }
}

}  // namespace
}  // namespace softdat::verbs
