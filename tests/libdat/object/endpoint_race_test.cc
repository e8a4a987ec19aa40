// SPDX-License-Identifier: BSD-2-Clause
// A thread stands still at any instruction of a call, while another thread changes the endpoint.
#include <pthread.h>

#include <atomic>
#include <csignal>

#include "tests/libdat/object/waiter.h"

namespace softdat::object {
namespace {

// A signal stops a thread wherever it is, until it is told to go on. A thread that has a lock would wait for ever, so
// it waits for a moment only.
class StandStill {
 public:
  StandStill() {
    struct sigaction action {};
    action.sa_handler = stand;
    action.sa_flags = SA_RESTART;
    EXPECT_EQ(::sigaction(SIGUSR1, &action, &before_), 0);
  }
  ~StandStill() { EXPECT_EQ(::sigaction(SIGUSR1, &before_, nullptr), 0); }
  StandStill(const StandStill&) = delete;
  StandStill& operator=(const StandStill&) = delete;

  // Calls `act` while `thread` stands.
  template <typename Act>
  void during(std::thread& thread, Act act) {
    const int round = ++rounds_;
    ASSERT_EQ(::pthread_kill(thread.native_handle(), SIGUSR1), 0);
    ASSERT_TRUE(eventually([&] { return began_.load() == round; }));
    act();
    told_.store(round);
    ASSERT_TRUE(eventually([&] { return ended_.load() == round; }));
  }

 private:
  static void stand(int) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
    const int round = ++began_;
    while (told_.load() < round && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    ++ended_;
  }

  static inline int rounds_ = 0;
  static inline std::atomic<int> began_{0};
  static inline std::atomic<int> ended_{0};
  static inline std::atomic<int> told_{0};
  struct sigaction before_ {};
};

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
