// SPDX-License-Identifier: BSD-2-Clause
// A thread stands still within a call, while another thread changes the endpoint.
#include <atomic>

#include "tests/libdat/object/waiter.h"
#include "tests/stand_still.h"

namespace softdat::object {
namespace {

TEST(EndpointRaceTest, DisconnectBearsThatTheZoneIsTakenAway) {
  World world;
  const Handle pz = world.make_pz();
  const Handle evd = world.make_evd(kDtoStream | kConnectionStream);
  const Handle handle = world.make_ep(pz, evd, evd, evd);
  std::atomic<bool> is_over{false};
  std::atomic<int> refused{0}, done{0};
  std::thread thread([&] {
    const auto ep = ep_of(handle);
    while (!is_over.load()) ++(ep->connection().disconnect(true) == kOk ? done : refused);
  });
  const auto set_zone = [&](ProtectionZone* zone) {
    EndpointChange change;
    change.pz = zone;
    ASSERT_EQ(ep_of(handle)->settings().modify(change), kOk);
  };
  StandStill stand_still;
  constexpr int kRounds = 200;
  for (int round = 0; round < kRounds; ++round) {
    const int before = done.load();
    world.device->queue_pairs.back()->move_to(hca::QueuePairState::kError);
    ASSERT_TRUE(eventually([&] { return done.load() > before; }));
    stand_still.during(thread, [&] {
      ASSERT_EQ(ep_of(handle)->connection().reset(), kOk);
      set_zone(nullptr);
    });
    set_zone(pin_handle<ProtectionZone>(pz).get());
  }
  is_over.store(true);
  thread.join();
  EXPECT_GE(done.load(), kRounds);
  EXPECT_GT(refused.load(), 0);
}

}  // namespace
}  // namespace softdat::object
