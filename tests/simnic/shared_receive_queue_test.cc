// SPDX-License-Identifier: BSD-2-Clause
// Receives that several queue pairs take from one queue.
#include "tests/simnic/world.h"

namespace softdat::simnic::testing {
namespace {

struct LowLog final : hca::SharedReceiveQueueSink {
  void on_low() override { ++count; }
  int count = 0;
};

// Three connections from here to there, whose passive ends share a queue of eight.
class SharedReceiveQueueTest : public ::testing::Test {
 protected:
  SharedReceiveQueueTest() { use({}); }
  ~SharedReceiveQueueTest() override { tear_down(); }

  void use(const transport::loop::LoopOptions& options, RnrPolicy rnr = RnrPolicy::kWait) {
    tear_down();
    world_ = std::make_unique<World>(options, rnr);
    srq_ = make_srq(8, 4);
    for (int i = 0; i < 3; ++i) {
      active_.push_back(std::make_unique<Endpoint>(world_->here()));
      passive_.push_back(
          std::make_unique<Endpoint>(world_->there(), Endpoint::kLimits, std::size_t{64}, nullptr, srq_.get()));
      world_->connect(*active_.back(), *passive_.back());
    }
  }
  std::unique_ptr<hca::SharedReceiveQueue> make_srq(std::uint32_t capacity, std::uint32_t max_sge) {
    hca::SharedReceiveQueueConfig config;
    config.pd = &world_->there().pd();
    config.capacity = capacity;
    config.max_sge = max_sge;
    config.sink = &log_;
    return expect_ok(world_->there().nic().create_srq(config));
  }
  void tear_down() {
    active_.clear();
    passive_.clear();
    srq_.reset();
    world_.reset();
  }
  hca::Outcome post(std::uint64_t wr_id, const Segments& local = {}) {
    return srq_->post_recv({.wr_id = wr_id, .local = local});
  }
  void post_many(std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) expect_ok(post(first + i));
  }
  void send(int from, std::uint64_t wr_id, const Segments& local = {}) {
    expect_ok(active_[static_cast<std::size_t>(from)]->send(wr_id, local));
  }
  Endpoint& passive(int i) { return *passive_[static_cast<std::size_t>(i)]; }
  Endpoint& active(int i) { return *active_[static_cast<std::size_t>(i)]; }
  void settle() { world_->settle(); }
  std::string counts() {
    const hca::SharedReceiveCounts counts = srq_->counts();
    return std::to_string(counts.available) + "/" + std::to_string(counts.outstanding);
  }

  LowLog log_;
  std::unique_ptr<World> world_;
  std::unique_ptr<hca::SharedReceiveQueue> srq_;
  std::vector<std::unique_ptr<Endpoint>> active_;
  std::vector<std::unique_ptr<Endpoint>> passive_;
};

TEST_F(SharedReceiveQueueTest, TheOldestReceiveGoesToTheFirstMessageWhoeverSentIt) {
  Memory from(world_->here(), bytes("abc")), to(world_->there(), 3);
  for (std::uint64_t i = 0; i < 3; ++i) expect_ok(post(10 + i, {to.segment(i, 1)}));
  const int order[] = {2, 0, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    send(order[i], 1, {from.segment(i, 1)});
    settle();
  }
  EXPECT_EQ(to.text(3), "abc");
  EXPECT_EQ(passive(2).recvs(), "10:ok");
  EXPECT_EQ(passive(0).recvs(), "11:ok");
  EXPECT_EQ(passive(1).recvs(), "12:ok");
}

TEST_F(SharedReceiveQueueTest, ACompletionNamesTheQueuePairThatTookIt) {
  expect_ok(post(1));
  send(1, 2);
  settle();
  const auto completion = passive(1).next_recv();
  ASSERT_TRUE(completion.has_value());
  EXPECT_EQ(completion->qp_context, reinterpret_cast<std::uintptr_t>(&passive(1)));
  EXPECT_EQ(completion->opcode, CompletionOpcode::kRecv);
}

TEST_F(SharedReceiveQueueTest, AReceiveIsOutstandingUntilItsCompletionIsPolled) {
  post_many(0, 3);
  EXPECT_EQ(counts(), "3/3");
  send(0, 1);
  settle();
  EXPECT_EQ(counts(), "2/3");
  EXPECT_EQ(passive(0).recvs(), "0:ok");
  EXPECT_EQ(counts(), "2/2");
}

TEST_F(SharedReceiveQueueTest, TheCapacityIsWhatMayBeOutstanding) {
  EXPECT_EQ(srq_->capacity(), 8u);
  post_many(0, 8);
  EXPECT_EQ(reason(post(8)), hca::Error::kLimitReached);
  send(0, 1);
  settle();
  EXPECT_EQ(reason(post(8)), hca::Error::kLimitReached);
  EXPECT_EQ(passive(0).recvs(), "0:ok");
  expect_ok(post(8));
  EXPECT_EQ(reason(post(9)), hca::Error::kLimitReached);
}

TEST_F(SharedReceiveQueueTest, ABadReceiveLeavesNoTrace) {
  Memory readable(world_->there(), 8, 0), good(world_->there(), 8);
  const auto other_pd = expect_ok(world_->there().nic().create_pd());
  Memory foreign(world_->there(), std::vector<std::byte>(8), kEverything, other_pd.get());
  EXPECT_EQ(reason(post(1, {readable.all()})), hca::Error::kMissingRight);
  EXPECT_EQ(reason(post(1, {foreign.all()})), hca::Error::kWrongDomain);
  EXPECT_EQ(reason(post(1, {good.segment(0, 9)})), hca::Error::kOutOfRange);
  EXPECT_EQ(reason(post(1, Segments(5, good.segment(0, 1)))), hca::Error::kInvalidArgument);
  EXPECT_EQ(reason(srq_->post_recv({.wr_id = 1, .flags = 0x80, .local = {}})), hca::Error::kInvalidArgument);
  EXPECT_EQ(counts(), "0/0");
}

TEST_F(SharedReceiveQueueTest, QueuePairsThatUseItTakeNoReceivesThemselves) {
  EXPECT_EQ(reason(passive(0).recv(1, {})), hca::Error::kInvalidState);
  EXPECT_EQ(passive(0).qp().recvs_outstanding(), 0u);
}

TEST_F(SharedReceiveQueueTest, AllWhoWaitAreServedAsReceivesCome) {
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 3; ++i) send(i, 1);
  }
  settle();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(active(i).sends(), "");
  for (std::uint64_t wr_id = 0; wr_id < 6; ++wr_id) {
    expect_ok(post(wr_id));
    settle();
    EXPECT_EQ(counts(), "0/" + std::to_string(wr_id + 1));
  }
  for (int i = 0; i < 3; ++i) EXPECT_EQ(active(i).sends(), "1:ok 1:ok");
}

TEST_F(SharedReceiveQueueTest, OneWhoWaitsAndGoesDoesNotKeepOthersWaiting) {
  for (int i = 0; i < 3; ++i) send(i, 1);
  settle();
  passive_.erase(passive_.begin());
  settle();
  post_many(0, 2);
  settle();
  EXPECT_EQ(active(1).sends(), "1:ok");
  EXPECT_EQ(active(2).sends(), "1:ok");
  EXPECT_EQ(counts(), "0/2");
}

// A peer that has been asked to try again may be slow, or dead: its turn is not kept for it.
TEST_F(SharedReceiveQueueTest, AReceiveIsNobodysUntilAMessageComes) {
  send(0, 1);
  settle();
  expect_ok(post(5));
  world_->turn_there();  // asks the first again, and its peer does not hear
  send(1, 2);
  settle();
  expect_ok(post(6));
  settle();
  EXPECT_EQ(active(0).sends(), "1:ok");
  EXPECT_EQ(active(1).sends(), "2:ok");
}

TEST_F(SharedReceiveQueueTest, TheStrictPolicyTerminates) {
  use({}, RnrPolicy::kTerminate);
  send(0, 1);
  settle();
  EXPECT_EQ(active(0).sends(), "1:rnr-retry-exceeded");
  EXPECT_EQ(passive(0).events(), "broken");
  expect_ok(post(2));
  send(1, 3);
  settle();
  EXPECT_EQ(active(1).sends(), "3:ok");
}

TEST_F(SharedReceiveQueueTest, WhatWasTakenIsFlushedWithItsQueuePairAndTheRestStays) {
  use({.capacity = 1500, .max_chunk = 100, .items_per_turn = 2});
  Memory from(world_->here(), 4000), to(world_->there(), 4000);
  expect_ok(post(1, {to.all()}));
  expect_ok(post(2, {to.all()}));
  send(0, 7, {from.all()});
  for (int i = 0; i < 2; ++i) {
    world_->turn_here();
    world_->turn_there();
  }
  EXPECT_EQ(counts(), "1/2");
  EXPECT_EQ(passive(0).qp().recvs_outstanding(), 1u);
  expect_ok(passive(0).qp().disconnect(false));
  settle();
  EXPECT_EQ(passive(0).recvs(), "1:flushed");
  EXPECT_EQ(counts(), "1/1");
  send(1, 8, {from.all()});
  settle();
  EXPECT_EQ(passive(1).recvs(), "2:ok");
}

TEST_F(SharedReceiveQueueTest, WhatWasTakenIsFlushedWhenItsQueuePairIsDestroyed) {
  use({.capacity = 1500, .max_chunk = 100, .items_per_turn = 2});
  Memory from(world_->here(), 4000), to(world_->there(), 4000);
  expect_ok(post(1, {to.all()}));
  send(0, 7, {from.all()});
  for (int i = 0; i < 2; ++i) {
    world_->turn_here();
    world_->turn_there();
  }
  passive(0).destroy_qp();
  EXPECT_EQ(passive(0).recvs(), "1:flushed");
  EXPECT_EQ(counts(), "0/0");
}

TEST_F(SharedReceiveQueueTest, AMessageThatDoesNotFitBlamesTheReceiveItTook) {
  Memory from(world_->here(), 10), to(world_->there(), 10);
  expect_ok(post(1, {to.segment(0, 4)}));
  expect_ok(post(2, {to.all()}));
  send(0, 7, {from.all()});
  settle();
  EXPECT_EQ(passive(0).recvs(), "1:local-length");
  EXPECT_EQ(passive(0).events(), "broken");
  EXPECT_EQ(counts(), "1/1");
}

TEST_F(SharedReceiveQueueTest, AResetQueuePairUsesItAgain) {
  expect_ok(passive(0).qp().disconnect(false));
  settle();
  EXPECT_EQ(passive(0).events(), "disconnected");
  EXPECT_EQ(active(0).events(), "disconnected");
  expect_ok(passive(0).qp().reset());
  expect_ok(active(0).qp().reset());
  world_->connect(active(0), passive(0));
  expect_ok(post(1));
  send(0, 2);
  settle();
  EXPECT_EQ(passive(0).recvs(), "1:ok");
}

TEST_F(SharedReceiveQueueTest, QueuePairsOfOtherDomainsMayUseIt) {
  const auto pd = expect_ok(world_->there().nic().create_pd());
  Endpoint near(world_->here()), far(world_->there(), Endpoint::kLimits, 64, pd.get(), srq_.get());
  world_->connect(near, far);
  Memory from(world_->here(), bytes("x")), to(world_->there(), 1), target(world_->there(), 1);
  expect_ok(post(1, {to.all()}));
  expect_ok(near.send(2, {from.all()}));
  settle();
  EXPECT_EQ(to.text(1), "x");
  // Its own domain goes on to decide what its peer may write.
  expect_ok(near.write(3, {from.all()}, target));
  settle();
  EXPECT_EQ(near.sends(), "2:ok 3:remote-access");
}

TEST_F(SharedReceiveQueueTest, TheLimitIsToldOnceWhenFewerAreLeft) {
  post_many(0, 4);
  srq_->arm(3);
  settle();
  EXPECT_EQ(log_.count, 0);
  send(0, 1);
  settle();
  EXPECT_EQ(log_.count, 0);
  send(1, 1);
  settle();
  EXPECT_EQ(log_.count, 1);
  send(2, 1);
  settle();
  EXPECT_EQ(log_.count, 1);
}

TEST_F(SharedReceiveQueueTest, TheLimitIsToldAtOnceWhenFewerAreThere) {
  post_many(0, 2);
  srq_->arm(3);
  settle();
  EXPECT_EQ(log_.count, 1);
  post_many(2, 2);
  srq_->arm(3);
  settle();
  EXPECT_EQ(log_.count, 1);
  send(0, 1);
  send(0, 1);
  settle();
  EXPECT_EQ(log_.count, 2);
}

TEST_F(SharedReceiveQueueTest, ANewLimitReplacesTheOld) {
  post_many(0, 4);
  srq_->arm(4);
  srq_->arm(2);
  send(0, 1);
  send(0, 1);
  settle();
  EXPECT_EQ(log_.count, 0);
  srq_->arm(0);
  send(0, 1);
  send(0, 1);
  settle();
  EXPECT_EQ(log_.count, 0);
}

TEST_F(SharedReceiveQueueTest, ResizingLosesNothingAndKeepsTheOrder) {
  Memory from(world_->here(), bytes("abcd")), to(world_->there(), 4);
  for (std::uint64_t i = 0; i < 3; ++i) expect_ok(post(i, {to.segment(i, 1)}));
  expect_ok(srq_->resize(100));
  EXPECT_EQ(srq_->capacity(), 100u);
  EXPECT_EQ(counts(), "3/3");
  expect_ok(post(3, {to.segment(3, 1)}));
  expect_ok(srq_->resize(4));
  EXPECT_EQ(reason(post(4)), hca::Error::kLimitReached);
  for (std::size_t i = 0; i < 4; ++i) send(0, i, {from.segment(i, 1)});
  settle();
  EXPECT_EQ(to.text(4), "abcd");
  EXPECT_EQ(passive(0).recvs(), "0:ok 1:ok 2:ok 3:ok");
}

TEST_F(SharedReceiveQueueTest, ItDoesNotShrinkBelowWhatIsOutstanding) {
  post_many(0, 4);
  send(0, 1);
  settle();
  EXPECT_EQ(reason(srq_->resize(3)), hca::Error::kInvalidState);
  EXPECT_EQ(srq_->capacity(), 8u);
  EXPECT_EQ(passive(0).recvs(), "0:ok");
  expect_ok(srq_->resize(3));
  EXPECT_EQ(reason(srq_->resize((1u << 16) + 1)), hca::Error::kLimitReached);
  EXPECT_EQ(srq_->capacity(), 3u);
}

TEST_F(SharedReceiveQueueTest, CompletionsOutliveTheQueue) {
  post_many(0, 2);
  send(0, 1);
  settle();
  passive(0).destroy_qp();
  passive_.erase(passive_.begin() + 1, passive_.end());
  srq_.reset();
  EXPECT_EQ(passive(0).recvs(), "0:ok");
}

TEST_F(SharedReceiveQueueTest, ALostCompletionIsNotOutstanding) {
  Endpoint near(world_->here()), far(world_->there(), Endpoint::kLimits, 2, nullptr, srq_.get());
  world_->connect(near, far);
  post_many(0, 4);
  for (int i = 0; i < 3; ++i) expect_ok(near.send(1, {}));
  settle();
  EXPECT_EQ(far.recv_log().overflows, 1);
  EXPECT_EQ(far.recvs(), "0:ok 1:ok");
  EXPECT_EQ(counts(), "1/1");
}

TEST_F(SharedReceiveQueueTest, RecvLimitsCountWhatTheQueuePairHasTaken) {
  passive(0).qp().set_recv_limits(0, hca::kNoRecvLimit);
  passive(1).qp().set_recv_limits(1, 1);
  passive(2).qp().set_recv_limits(hca::kNoRecvLimit, 0);
  post_many(0, 8);
  settle();
  EXPECT_EQ(passive(0).recv_limits, 0);
  for (int i = 0; i < 3; ++i) {
    send(i, 1);
    send(i, 2);
  }
  settle();
  EXPECT_EQ(passive(0).recv_limits, 1);
  EXPECT_EQ(passive(0).events(), "");
  EXPECT_EQ(passive(1).recv_limits, 0);
  EXPECT_EQ(passive(1).events(), "");
  EXPECT_EQ(passive(2).events(), "broken");
  EXPECT_EQ(passive(2).recvs().substr(2), "flushed");
}

TEST_F(SharedReceiveQueueTest, WhatTheDeviceCannotDoIsRefused) {
  hca::SharedReceiveQueueConfig config;
  config.pd = &world_->there().pd();
  config.sink = &log_;
  config.max_sge = 1;
  Nic& nic = world_->there().nic();
  EXPECT_EQ(reason(nic.create_srq(config)), hca::Error::kInvalidArgument);
  config.capacity = nic.attributes().max_wr + 1;
  EXPECT_EQ(reason(nic.create_srq(config)), hca::Error::kLimitReached);
  config.capacity = 1;
  config.max_sge = nic.attributes().max_sge + 1;
  EXPECT_EQ(reason(nic.create_srq(config)), hca::Error::kLimitReached);
  config.max_sge = 1;
  std::vector<std::unique_ptr<hca::SharedReceiveQueue>> all;
  for (std::uint32_t i = 1; i < nic.attributes().max_srq; ++i) all.push_back(expect_ok(nic.create_srq(config)));
  EXPECT_EQ(reason(nic.create_srq(config)), hca::Error::kLimitReached);
  all.pop_back();
  expect_ok(nic.create_srq(config));
}

}  // namespace
}  // namespace softdat::simnic::testing
