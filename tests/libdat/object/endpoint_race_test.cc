// SPDX-License-Identifier: BSD-2-Clause
// A thread stands still within a call, while another thread changes the endpoint.
#include <unistd.h>

#include <atomic>
#include <span>
#include <thread>

#include "tests/asleep.h"
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

class EndpointReplacement : public testing::Test {
 protected:
  // Runs `call` in a thread until it has ended or sleeps, which the caller keeps it from ending.
  template <typename Call>
  void begin(Call call) {
    thread_ = std::thread([this, call] {
      id_.store(::gettid());
      call();
      is_over_.store(true);
    });
    EXPECT_TRUE(eventually([this] { return is_over_.load() || (id_.load() != 0 && is_asleep(id_.load())); }));
  }
  void add_reads() {
    EndpointChange change;
    change.attributes = [](EndpointAttributes& attributes) { ++attributes.max_rdma_read_in; };
    ASSERT_EQ(ep_of(ep_)->settings().modify(change), kOk);
  }
  void SetUp() override {
    EndpointChange change;
    change.attributes = [](EndpointAttributes& attributes) { attributes.max_rdma_read_in = 1; };
    ASSERT_EQ(ep_of(ep_)->settings().modify(change), kOk);
  }
  void TearDown() override {
    if (thread_.joinable()) thread_.join();
  }

  World world_;
  Handle pz_ = world_.make_pz();
  Handle evd_ = world_.make_evd(kDtoStream | kConnectionStream);
  Handle ep_ = world_.make_ep(pz_, evd_, evd_, evd_);

 private:
  std::thread thread_;
  std::atomic<pid_t> id_{0};
  std::atomic<bool> is_over_{false};
};

// The list of replaced queue pairs grows while another thread is in the midst of it.
TEST_F(EndpointReplacement, CountsAreAddedUpMeanwhile) {
  const Pin<Endpoint> other_call = ep_of(ep_);
  constexpr int kReplaced = 4;  // a list that is full, whatever grows it
  for (int i = 0; i < kReplaced; ++i) add_reads();
  auto& pairs = world_.device->queue_pairs;
  for (FakeQueuePair* const pair : std::span(pairs).last(kReplaced + 1)) {
    pair->transfers[static_cast<std::size_t>(hca::Transfer::kPostSend)] = {1, 1};
  }
  pairs[pairs.size() - kReplaced - 1]->before_counting = [&] { begin([&] { add_reads(); }); };
  EXPECT_EQ(other_call->counters().counter(ep_counter::kFirstTransfer, false), kReplaced + 1u);
}

}  // namespace
}  // namespace softdat::object
