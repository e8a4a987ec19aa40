// SPDX-License-Identifier: BSD-2-Clause
// What a post refuses, and that a refusal leaves no trace.
#include "tests/simnic/world.h"

namespace softdat::simnic::testing {
namespace {

class PostTest : public ConnectedTest {
 protected:
  std::optional<hca::Error> refusal(const Segments& local, hca::SendOpcode opcode = hca::SendOpcode::kSend,
                                    std::uint32_t flags = hca::kSignaled) {
    return reason(active_->qp().post_send({.wr_id = 1, .opcode = opcode, .flags = flags, .local = local}));
  }
  void TearDown() override {
    settle();
    EXPECT_EQ(active_->qp().sends_outstanding(), 0u);
    EXPECT_EQ(active_->qp().recvs_outstanding(), 0u);
    EXPECT_EQ(active_->sends() + active_->recvs() + active_->events(), "");
    ConnectedTest::TearDown();
  }
};

TEST_F(PostTest, SegmentsOutsideTheirRegion) {
  Memory memory(here(), 16);
  EXPECT_EQ(refusal({memory.segment(0, 17)}), hca::Error::kOutOfRange);
  EXPECT_EQ(refusal({memory.segment(1, 16)}), hca::Error::kOutOfRange);
  EXPECT_EQ(refusal({{memory.address() - 1, 1, memory.key()}}), hca::Error::kOutOfRange);
  EXPECT_EQ(refusal({{~std::uint64_t{0}, 2, memory.key()}}), hca::Error::kOutOfRange);
  EXPECT_EQ(refusal({memory.segment(0, 1), memory.segment(16, 1)}), hca::Error::kOutOfRange);
}

TEST_F(PostTest, KeysThatAreNotOurs) {
  Memory memory(here(), 16);
  EXPECT_EQ(refusal({{memory.address(), 1, 0}}), hca::Error::kBadKey);
  EXPECT_EQ(refusal({{memory.address(), 1, memory.key() + 1}}), hca::Error::kBadKey);
  EXPECT_EQ(refusal({{memory.address(), 1, 0xffff'ffff}}), hca::Error::kBadKey);
  memory.deregister();
  EXPECT_EQ(refusal({memory.segment(0, 1)}), hca::Error::kBadKey);
  const auto pd = expect_ok(here().nic().create_pd());
  Memory other(here(), std::vector<std::byte>(8), kEverything, pd.get());
  EXPECT_EQ(refusal({other.segment(0, 1)}), hca::Error::kWrongDomain);
}

TEST_F(PostTest, RightsThatAreMissing) {
  Memory memory(here(), std::vector<std::byte>(8), hca::kRemoteRead | hca::kRemoteWrite);
  EXPECT_EQ(refusal({memory.all()}, hca::SendOpcode::kRead), hca::Error::kMissingRight);
  EXPECT_EQ(reason(active_->recv(1, {memory.all()})), hca::Error::kMissingRight);
}

TEST_F(PostTest, WildShapes) {
  Memory memory(here(), 16);
  EXPECT_EQ(refusal({memory.all(), memory.all(), memory.all(), memory.all(), memory.all()}),
            hca::Error::kInvalidArgument);
  EXPECT_EQ(refusal({memory.all()}, static_cast<hca::SendOpcode>(99)), hca::Error::kInvalidArgument);
  EXPECT_EQ(refusal({memory.all()}, hca::SendOpcode::kSend, 0x100), hca::Error::kInvalidArgument);
  EXPECT_EQ(reason(active_->recv(1, {memory.all()}, hca::kFence)), hca::Error::kInvalidArgument);
  EXPECT_EQ(reason(active_->recv(1, Segments(5, memory.all()))), hca::Error::kInvalidArgument);
}

TEST_F(PostTest, LengthsThatAddUpTooFar) {
  const hca::Segment huge{0, 0xffff'ffff, 1};
  EXPECT_EQ(refusal({huge, {0, 1, 1}}), hca::Error::kInvalidArgument);
  EXPECT_EQ(reason(active_->recv(1, {huge, huge})), hca::Error::kInvalidArgument);
}

class FullQueueTest : public ConnectedTest {};

TEST_F(FullQueueTest, TakesAsManyAsItsLimitAndNoMore) {
  Memory memory(here(), 8);
  const auto& limits = active_->qp().limits();
  EXPECT_GE(limits.send_wr, Endpoint::kLimits.send_wr);
  for (std::uint32_t i = 0; i < limits.send_wr; ++i) expect_ok(active_->send(i, {memory.all()}));
  EXPECT_EQ(reason(active_->send(99, {memory.all()})), hca::Error::kLimitReached);
  for (std::uint32_t i = 0; i < limits.recv_wr; ++i) expect_ok(active_->recv(i, {memory.all()}));
  EXPECT_EQ(reason(active_->recv(99, {memory.all()})), hca::Error::kLimitReached);
  EXPECT_EQ(active_->qp().sends_outstanding(), limits.send_wr);
  EXPECT_EQ(active_->qp().recvs_outstanding(), limits.recv_wr);
}

TEST_F(FullQueueTest, ACompletionSeenIsRoomAgain) {
  Memory memory(here(), 8), remote(there(), 8);
  const std::uint32_t depth = active_->qp().limits().send_wr;
  for (std::uint32_t i = 0; i < depth; ++i) expect_ok(active_->write(i, {memory.all()}, remote));
  for (std::uint64_t next = depth; next < 1000;) {
    world_->turn_there();
    world_->turn_here();
    while (active_->next_send()) expect_ok(active_->write(next++, {memory.all()}, remote));
  }
}

TEST_F(FullQueueTest, LimitsBeyondTheDevicesAreRefused) {
  const auto& most = here().nic().attributes();
  auto limits = Endpoint::kLimits;
  hca::QueuePairConfig config;
  config.pd = &here().pd();
  config.send_cq = &active_->send_cq();
  config.recv_cq = &active_->recv_cq();
  const auto refusal = [&] {
    config.limits = limits;
    limits = Endpoint::kLimits;
    return reason(here().nic().create_qp(config));
  };
  limits.send_wr = most.max_wr + 1;
  EXPECT_EQ(refusal(), hca::Error::kLimitReached);
  limits.recv_sge = most.max_sge + 1;
  EXPECT_EQ(refusal(), hca::Error::kLimitReached);
  limits.ird = most.max_ird + 1;
  EXPECT_EQ(refusal(), hca::Error::kLimitReached);
  config.pd = nullptr;
  EXPECT_EQ(refusal(), hca::Error::kInvalidArgument);
  CompletionLog log;
  EXPECT_EQ(reason(here().nic().create_cq(most.max_cqe + std::size_t{1}, log)), hca::Error::kLimitReached);
}

TEST_F(FullQueueTest, TheDevicesOwnLimitsAreGranted) {
  const auto& most = here().nic().attributes();
  Endpoint big(here(), {.send_wr = most.max_wr,
                        .recv_wr = most.max_wr,
                        .send_sge = most.max_sge,
                        .recv_sge = most.max_sge,
                        .ird = most.max_ird,
                        .ord = most.max_ord});
  Endpoint other(there(), big.qp().limits());
  world_->connect(big, other);
  Memory from(here(), pattern(300, 1)), to(there(), 300);
  Segments gather, scatter;
  for (std::size_t i = 0; i < most.max_sge; ++i) gather.push_back(from.segment(i * 10, 10));
  for (std::size_t i = most.max_sge; i-- > 0;) scatter.push_back(to.segment(i * 10, 10));
  expect_ok(other.recv(1, scatter));
  expect_ok(big.send(2, gather));
  world_->settle();
  EXPECT_EQ(big.sends(), "2:ok");
  for (std::size_t i = 0; i < 30; ++i) EXPECT_EQ(to.part(290 - i * 10, 10), from.part(i * 10, 10));
}

}  // namespace
}  // namespace softdat::simnic::testing
