// SPDX-License-Identifier: BSD-2-Clause
// Requests that the peer must refuse, and local memory that goes away: exactly the guilty one says
// so, everything behind it is flushed in order, both sides hear it once.
#include "tests/simnic/world.h"

namespace softdat::simnic::testing {
namespace {

class ViolationTest : public ConnectedTest {
 protected:
  void SetUp() override {
    ConnectedTest::SetUp();
    local_ = std::make_unique<Memory>(here(), 64);
    remote_ = std::make_unique<Memory>(there(), 64);
  }
  void TearDown() override {
    forget_memory();
    ConnectedTest::TearDown();
  }
  void forget_memory() {
    local_.reset();
    remote_.reset();
  }
  template <typename... Options>
  void use(const Options&... options) {
    forget_memory();
    ConnectedTest::use(options...);
  }
  hca::Outcome access(hca::SendOpcode opcode, std::uint64_t wr_id, std::uint32_t rkey, std::uint64_t address,
                      std::size_t length = 8) {
    const Segments segments{local_->segment(0, length)};
    return active_->qp().post_send({.wr_id = wr_id,
                                    .opcode = opcode,
                                    .flags = hca::kSignaled,
                                    .rkey = rkey,
                                    .remote_address = address,
                                    .local = segments});
  }
  // A good write, then the access under test, then another write.
  void expect_refused(hca::SendOpcode opcode, std::uint32_t rkey, std::uint64_t address) {
    expect_ok(active_->write(1, {local_->segment(0, 8)}, *remote_));
    expect_ok(access(opcode, 2, rkey, address));
    expect_ok(active_->write(3, {local_->segment(0, 8)}, *remote_));
    settle();
    EXPECT_EQ(active_->sends(), "1:ok 2:remote-access 3:flushed");
    EXPECT_EQ(active_->events(), "broken");
    EXPECT_EQ(passive_->events(), "broken");
    EXPECT_EQ(active_->qp().state(), QueuePairState::kError);
    EXPECT_EQ(passive_->qp().state(), QueuePairState::kError);
  }

  std::unique_ptr<Memory> local_;
  std::unique_ptr<Memory> remote_;
};

class AccessTest : public ViolationTest, public ::testing::WithParamInterface<hca::SendOpcode> {};
INSTANTIATE_TEST_SUITE_P(WriteAndRead, AccessTest, ::testing::Values(hca::SendOpcode::kWrite, hca::SendOpcode::kRead),
                         [](const auto& shape) { return shape.param == hca::SendOpcode::kWrite ? "Write" : "Read"; });

TEST_P(AccessTest, AKeyThatNamesNothing) {
  expect_refused(GetParam(), remote_->key() + 0x100, remote_->address());
}

TEST_P(AccessTest, AKeyWithAnotherTag) {
  expect_refused(GetParam(), remote_->key() ^ 1, remote_->address());
}

TEST_P(AccessTest, AKeyOfDeregisteredMemory) {
  Memory gone(there(), 64);
  gone.deregister();
  expect_refused(GetParam(), gone.key(), gone.address());
}

TEST_P(AccessTest, OneByteBehindTheRegion) {
  expect_refused(GetParam(), remote_->key(), remote_->address(57));
}

TEST_P(AccessTest, OneByteBeforeTheRegion) {
  expect_refused(GetParam(), remote_->key(), remote_->address() - 1);
}

TEST_P(AccessTest, ARangeThatWrapsAroundTheAddressSpace) {
  expect_refused(GetParam(), remote_->key(), ~std::uint64_t{0} - 3);
}

TEST_P(AccessTest, ARegionWithoutTheRight) {
  Memory other(there(), std::vector<std::byte>(64), hca::kLocalWrite);
  expect_refused(GetParam(), other.key(), other.address());
}

TEST_P(AccessTest, ARegionOfAnotherDomain) {
  const auto pd = expect_ok(there().nic().create_pd());
  Memory other(there(), std::vector<std::byte>(64), kEverything, pd.get());
  expect_refused(GetParam(), other.key(), other.address());
}

TEST_F(ViolationTest, ReadsUnderWayAreAnsweredBeforeALaterRefusal) {
  use(transport::loop::LoopOptions{.seed = 3, .capacity = 3000, .max_chunk = 100});
  local_ = std::make_unique<Memory>(here(), 20000);
  remote_ = std::make_unique<Memory>(there(), pattern(20000, 3));
  expect_ok(active_->read(1, {local_->all()}, *remote_));
  expect_ok(access(hca::SendOpcode::kWrite, 2, 0xdead, 0));
  expect_ok(active_->write(3, {local_->segment(0, 8)}, *remote_));
  settle();
  EXPECT_EQ(active_->sends(), "1:ok 2:remote-access 3:flushed");
  EXPECT_TRUE(local_->content() == remote_->content());
}

TEST_F(ViolationTest, NothingBehindARefusalIsCarriedOut) {
  Memory from(here(), bytes("after!!!"));
  expect_ok(access(hca::SendOpcode::kRead, 1, 0xdead, 0));
  expect_ok(active_->write(2, {from.all()}, *remote_));
  settle();
  EXPECT_EQ(active_->sends(), "1:remote-access 2:flushed");
  EXPECT_EQ(remote_->part(0, 8), std::vector<std::byte>(8));
}

TEST_F(ViolationTest, ASendLongerThanItsReceive) {
  Memory small(there(), 16);
  expect_ok(passive_->recv(1, {small.segment(0, 8)}));
  expect_ok(passive_->recv(2, {small.segment(8, 7)}));
  expect_ok(passive_->recv(3, {small.segment(8, 8)}));
  for (std::uint64_t i = 4; i < 7; ++i) expect_ok(active_->send(i, {local_->segment(0, 8)}));
  settle();
  EXPECT_EQ(active_->sends(), "4:ok 5:remote-operation 6:flushed");
  EXPECT_EQ(passive_->recvs(), "1:ok 2:local-length 3:flushed");
  EXPECT_EQ(active_->events() + passive_->events(), "brokenbroken");
}

TEST_F(ViolationTest, AFailedReceiveCarriesNoLength) {
  expect_ok(passive_->recv(1, {}));
  expect_ok(active_->send(2, {local_->segment(0, 8)}));
  settle();
  const auto failed = passive_->next_recv();
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->status, CompletionStatus::kLocalLength);
  EXPECT_EQ(failed->length, 0u);
}

TEST_F(ViolationTest, AReceiveWhoseMemoryIsGone) {
  Memory buffer(there(), 8);
  expect_ok(passive_->recv(1, {buffer.all()}));
  buffer.deregister();
  expect_ok(active_->send(2, {local_->segment(0, 8)}));
  settle();
  EXPECT_EQ(passive_->recvs(), "1:local-protection");
  EXPECT_EQ(active_->sends(), "2:remote-operation");
}

TEST_F(ViolationTest, ASendWhoseMemoryIsGoneFailsAfterEverythingBeforeIt) {
  use(transport::loop::LoopOptions{.capacity = 500, .max_chunk = 100});
  Memory kept(here(), 4000), lost(here(), 8), target(there(), 4000);
  expect_ok(active_->write(1, {kept.all()}, target));
  expect_ok(active_->write(2, {lost.all()}, target));
  expect_ok(active_->write(3, {kept.all()}, target));
  lost.deregister();
  settle();
  EXPECT_EQ(active_->sends(), "1:ok 2:local-protection 3:flushed");
  EXPECT_EQ(active_->events() + passive_->events(), "brokenbroken");
}

TEST_F(ViolationTest, MemoryTakenAwayInMidSendEndsTheConnection) {
  use(transport::loop::LoopOptions{.capacity = 500, .max_chunk = 100});
  Memory first(here(), 8), big(here(), 4000), target(there(), 4000);
  expect_ok(active_->write(1, {first.all()}, target));
  expect_ok(active_->write(2, {big.all()}, target));
  big.deregister();
  settle();
  const std::string sends = active_->sends();
  EXPECT_TRUE(sends == "1:ok 2:local-protection" || sends == "1:flushed 2:local-protection") << sends;
  EXPECT_EQ(active_->events() + passive_->events(), "brokenbroken");
}

TEST_F(ViolationTest, MemoryTakenAwayInMidReadFailsTheRead) {
  use(transport::loop::LoopOptions{.capacity = 500, .max_chunk = 100});
  local_ = std::make_unique<Memory>(here(), 4000);
  Memory source(there(), 4000);
  expect_ok(active_->read(1, {local_->all()}, source));
  expect_ok(active_->read(2, {local_->all()}, source));
  world_->turn_there();
  world_->turn_here();
  source.deregister();
  settle();
  EXPECT_EQ(active_->sends(), "1:remote-access 2:flushed");
  EXPECT_EQ(active_->events() + passive_->events(), "brokenbroken");
}

TEST_F(ViolationTest, AReadSinkTakenAwayFailsTheReadLocally) {
  Memory source(there(), 64);
  Memory sink(here(), 64);
  expect_ok(active_->read(1, {sink.all()}, source));
  expect_ok(active_->write(2, {local_->segment(0, 8)}, source));
  sink.deregister();
  settle();
  EXPECT_EQ(active_->sends(), "1:local-protection 2:flushed");
  EXPECT_EQ(active_->events() + passive_->events(), "brokenbroken");
}

TEST_F(ViolationTest, OnesOwnTroubleIsNoFaultOfThePeersRequests) {
  Memory gone(here(), 8), waiting(there(), 8);
  expect_ok(passive_->send(1, {waiting.all()}));  // finds no receive
  settle();
  expect_ok(active_->send(2, {local_->segment(0, 8)}));  // the same the other way round
  settle();
  expect_ok(active_->write(3, {gone.all()}, *remote_));
  gone.deregister();
  Memory inbox(there(), 8);
  expect_ok(passive_->recv(4, {inbox.all()}));
  settle();
  EXPECT_EQ(active_->sends(), "2:ok 3:local-protection");
  EXPECT_EQ(passive_->sends(), "1:flushed");
}

TEST_F(ViolationTest, AnOverflowingCompletionQueueBreaksItsQueuePairAndSaysSoOnce) {
  use(transport::loop::LoopOptions{}, RnrPolicy::kWait, Endpoint::kLimits, std::size_t{2});
  local_ = std::make_unique<Memory>(here(), 8);
  remote_ = std::make_unique<Memory>(there(), 8);
  for (std::uint64_t i = 0; i < 6; ++i) expect_ok(active_->write(i, {local_->all()}, *remote_));
  settle();
  EXPECT_EQ(active_->send_log().overflows, 1);
  EXPECT_EQ(active_->sends(), "0:ok 1:ok");
  EXPECT_EQ(active_->events(), "broken");
  EXPECT_EQ(passive_->events(), "broken");
  EXPECT_EQ(passive_->send_log().overflows, 0);
}

TEST_F(ViolationTest, OtherConnectionsOfTheDeviceGoOn) {
  Endpoint other_active(here()), other_passive(there());
  world_->connect(other_active, other_passive);
  expect_ok(access(hca::SendOpcode::kWrite, 1, 0xdead, 0));
  settle();
  EXPECT_EQ(active_->events(), "broken");
  expect_ok(other_active.write(2, {local_->segment(0, 8)}, *remote_));
  settle();
  EXPECT_EQ(other_active.sends(), "2:ok");
  EXPECT_EQ(other_active.events(), "");
}

}  // namespace
}  // namespace softdat::simnic::testing
