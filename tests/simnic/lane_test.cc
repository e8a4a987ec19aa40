// SPDX-License-Identifier: BSD-2-Clause
// Short sends over shared memory, posted without the baton.
#include "simnic/lane.h"

#include <semaphore>
#include <thread>

#include "simnic/engine.h"
#include "tests/simnic/direct/direct_world.h"

namespace softdat::simnic::testing {
namespace {

// Another thread holds the baton while this lives.
class HeldElsewhere {
 public:
  explicit HeldElsewhere(Engine& engine)
      : holder_([this, &engine] {
          const Engine::Hold hold(engine);
          is_held_.release();
          is_over_.acquire();
        }) {
    is_held_.acquire();
  }
  ~HeldElsewhere() {
    is_over_.release();
    holder_.join();
  }

 private:
  std::binary_semaphore is_held_{0}, is_over_{0};
  std::thread holder_;
};

class LaneTest : public DirectTest {
 protected:
  hca::Outcome send(std::uint64_t wr_id, const Segments& local) {
    return active_->post_send(
        {.wr_id = wr_id, .opcode = hca::SendOpcode::kSend, .flags = hca::kSignaled, .local = local});
  }
  void receive(std::uint64_t wr_id, const Segments& local) {
    expect_ok(passive_->post_recv({.wr_id = wr_id, .local = local}));
  }
  // What the peer has when it looks once more.
  std::string arrived() {
    there_.turn();
    return there_.next();
  }
};

TEST_F(LaneTest, AShortSendArrivesWhileAnotherHasTheBaton) {
  Block from(here_, 64), to(there_, 64);
  from.fill(1);
  receive(7, {to.segment(0, 64)});
  const HeldElsewhere hold(here_.nic.engine());
  std::thread([&] { expect_ok(send(1, {from.segment(0, 64)})); }).join();
  EXPECT_EQ(arrived(), "7:ok");
  EXPECT_TRUE(to.is_all(1));
}

TEST_F(LaneTest, WhatTakesTheBatonIsNotOvertaken) {
  Block from(here_, 64), to(there_, 64);
  for (std::uint64_t i = 0; i < 64; ++i) from.data()[i] = static_cast<std::byte>(i);
  for (std::uint64_t i = 0; i < 3; ++i) receive(7 + i, {to.segment(16 * i, 16)});
  {
    const HeldElsewhere hold(here_.nic.engine());
    expect_ok(send(1, {from.segment(0, 16)}));
    expect_ok(send(2, {from.segment(16, 8), from.segment(24, 8)}));
    expect_ok(send(3, {from.segment(32, 16)}));
    EXPECT_EQ(arrived(), "7:ok");
    EXPECT_EQ(arrived(), "none");
  }
  EXPECT_EQ(arrived(), "8:ok");
  EXPECT_EQ(arrived(), "9:ok");
  EXPECT_EQ(std::memcmp(to.data(), from.data(), 48), 0);
}

TEST_F(LaneTest, ASendWithoutAReceiveIsRepeatedInItsPlace) {
  Block from(here_, 64), to(there_, 64);
  for (std::uint64_t i = 0; i < 64; ++i) from.data()[i] = static_cast<std::byte>(i);
  for (std::uint64_t i = 0; i < 3; ++i) expect_ok(send(1 + i, {from.segment(16 * i, 16)}));
  EXPECT_EQ(arrived(), "none");
  for (std::uint64_t i = 0; i < 3; ++i) receive(7 + i, {to.segment(16 * i, 16)});
  for (const char* expected : {"7:ok", "8:ok", "9:ok"}) EXPECT_EQ(await_completion(there_), expected);
  for (const char* expected : {"1:ok", "2:ok", "3:ok"}) EXPECT_EQ(await_completion(here_), expected);
  EXPECT_EQ(std::memcmp(to.data(), from.data(), 48), 0);
}

TEST_F(LaneTest, WhoTakesAKeyAwayWaitsForPosters) {
  Engine& engine = here_.nic.engine();
  Lane lane;
  {
    const Engine::Hold hold(engine);
    engine.list_lane(lane);
  }
  ASSERT_TRUE(lane.try_enter());
  std::atomic<bool> has_begun{false}, has_left{false};
  std::thread freer([&] {
    const Engine::Hold hold(engine);
    has_begun = true;
    engine.await_posters();
    EXPECT_TRUE(has_left);
    engine.strike_lane(lane);
  });
  await([&] { return has_begun.load(); });
  for (int i = 0; i < 1000; ++i) std::this_thread::yield();
  has_left = true;
  lane.leave();
  freer.join();
  EXPECT_TRUE(lane.try_enter());
  lane.leave();
}

// A poster goes on posting while the memory goes; what he posts then is refused. A send that was posted before may
// fail, which breaks the connection.
TEST_F(LaneTest, NothingIsSentFromMemoryAfterItsDeregistration) {
  constexpr std::uint64_t kRounds = 200;
  constexpr std::uint64_t kSends = 4;
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    Block from(here_, 8), to(there_, 8 * kSends);
    from.fill(1);
    for (std::uint64_t i = 0; i < kSends; ++i) receive(i, {to.segment(8 * i, 8)});
    const hca::Segment local = from.segment(0, 8);
    std::atomic<std::uint64_t> posted{0};
    std::thread poster([&] {
      while (posted < kSends && send(posted, {local}).ok()) ++posted;
    });
    await([&] { return posted.load() > 0; });
    from.deregister();
    from.fill(2);
    poster.join();
    std::uint64_t completed = 0;
    EXPECT_TRUE(await([&] {
      here_.turn();
      if (arrived() != "none") ++completed;
      return completed >= posted;
    }));
    for (std::size_t i = 0; i < 8 * kSends; ++i) ASSERT_NE(to.data()[i], std::byte{2}) << "round " << round;
    active_.reset();
    passive_.reset();
    while (here_.next() != "none" || there_.next() != "none") continue;
    connect();
  }
}

}  // namespace
}  // namespace softdat::simnic::testing
