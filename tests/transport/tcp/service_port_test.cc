// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/service_port.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace softdat::transport::tcp {
namespace {

TEST(ServicePort, AnUnprivilegedPortIsItself) {
  EXPECT_EQ(ports_of(45248), std::vector<std::uint16_t>{45248});
  EXPECT_EQ(ports_of(1024), std::vector<std::uint16_t>{1024});
  EXPECT_EQ(ports_of(65535), std::vector<std::uint16_t>{65535});
}

TEST(ServicePort, APrivilegedPortMayHaveHadToGiveWay) {
  const auto ports = ports_of(80);
  ASSERT_EQ(ports.size(), kProbeCount + 1);
  EXPECT_EQ(ports[0], 80);
}

// Both ends compute these, in every version of the library: they may never change.
TEST(ServicePort, TheSequenceIsWrittenInStone) {
  EXPECT_EQ(ports_of(65536), (std::vector<std::uint16_t>{28979, 22108, 26090, 21600, 23840, 24796, 24324, 24968, 22379,
                                                         29139, 29222, 21823, 24378, 27054, 22676, 25179}));
  EXPECT_EQ(ports_of(0), (std::vector<std::uint16_t>{27535, 25700, 25679, 22444, 24747, 22090, 26913, 26940, 23299,
                                                     20390, 20201, 24726, 26683, 28431, 23817, 24907}));
}

TEST(ServicePort, SequencesAreDistinctPortsWithinTheRangeAndDiffer) {
  std::set<std::vector<std::uint16_t>> all;
  for (std::uint64_t id = 65536; id < 65536 + 2000; ++id) {
    const auto ports = ports_of(id << 3);
    ASSERT_EQ(ports.size(), kProbeCount);
    ASSERT_EQ(std::set(ports.begin(), ports.end()).size(), kProbeCount);
    ASSERT_TRUE(std::ranges::all_of(ports, [](std::uint16_t port) { return port >= 20000 && port < 30000; }));
    all.insert(ports);
  }
  EXPECT_EQ(all.size(), 2000u);
}

}  // namespace
}  // namespace softdat::transport::tcp
