// SPDX-License-Identifier: BSD-2-Clause
// A thread stands still within a call, while another thread changes the endpoint.
#include <unistd.h>

#include <atomic>
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
  // A receive is posted when the queue pair has been retired, and the next one is not there yet.
  Status post_during(const EndpointChange& change) {
    Status posted;
    FakeQueuePair* const old = world_.device->queue_pairs.back();
    old->after_retiring = [&] { begin([&] { posted = ep_of(ep_)->posts().post_recv({}, 1, 0); }); };
    EXPECT_EQ(ep_of(ep_)->settings().modify(change), kOk);
    if (thread_.joinable()) thread_.join();
    EXPECT_TRUE(is_over_.load());
    return posted;
  }
  // Another queue pair for each number.
  void set_reads(std::int32_t reads) {
    EndpointChange change;
    change.attributes = [reads](EndpointAttributes& attributes) { attributes.max_rdma_read_in = reads; };
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

TEST_F(EndpointReplacement, ReceiveThatIsPostedMeanwhileFindsTheNewQueuePair) {
  EndpointChange change;
  change.attributes = [](EndpointAttributes& attributes) { attributes.max_recv_dtos = 900; };
  EXPECT_EQ(post_during(change), kOk);
  EXPECT_EQ(world_.device->queue_pairs.back()->recvs.size(), 1u);
}

TEST_F(EndpointReplacement, ReceiveThatIsPostedMeanwhileIsNotLostWithTheZone) {
  EndpointChange change;
  change.pz = nullptr;
  EXPECT_EQ(post_during(change), invalid_state(StatusDetail::kInvalidStateEpPz));
}

// The list of replaced queue pairs grows while another thread is at its first one.
TEST_F(EndpointReplacement, CountsAreAddedUpMeanwhile) {
  const Pin<Endpoint> other_call = ep_of(ep_);
  constexpr std::int32_t kReplaced = 4;
  for (std::int32_t reads = 0; reads < kReplaced; ++reads) set_reads(reads);
  auto& pairs = world_.device->queue_pairs;
  ASSERT_EQ(pairs.size(), kReplaced + 1u);
  for (FakeQueuePair* const pair : pairs) pair->transfers[static_cast<std::size_t>(hca::Transfer::kPostSend)] = {1, 1};
  pairs.front()->before_counting = [&] { begin([&] { set_reads(kReplaced); }); };
  EXPECT_EQ(other_call->counters().counter(ep_counter::kFirstTransfer, false), kReplaced + 1u);
}

}  // namespace
}  // namespace softdat::object
