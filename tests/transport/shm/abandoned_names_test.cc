// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/abandoned_names.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "tests/scarce_memory.h"
#include "tests/transport/shm/test_addresses.h"
#include "transport/reactor.h"

namespace softdat::transport::shm {
namespace {

using softdat::scarce_memory::allocations_left;

TEST(AbandonedNames, AreLookedAtAgainWhenMemoryWasShort) {
  const std::unique_ptr<Reactor> reactor = Reactor::create();
  const Rendezvous rendezvous;
  Attention attention(*reactor);
  AbandonedNames names(rendezvous, attention, *reactor);
  names.add({base::IpAddress{.ipv4 = kParentAddress}, test_service()});
  base::Time now = base::Clock::now();
  allocations_left = 0;
  names.turn(now);
  allocations_left = -1;
  EXPECT_FALSE(names.are_none());
  now += std::chrono::seconds(1);
  names.turn(now);
  EXPECT_TRUE(names.are_none()) << "nobody listens there";
}

}  // namespace
}  // namespace softdat::transport::shm
