// SPDX-License-Identifier: BSD-2-Clause
// set_recv_limits(): how many receives a queue pair may have outstanding.
#include "tests/simnic/world.h"

namespace softdat::simnic::testing {
namespace {

class RecvLimitsTest : public ConnectedTest {
 protected:
  void post(int count) {
    for (int i = 0; i < count; ++i) expect_ok(passive_->recv(1, {}));
    settle();
  }
};

TEST_F(RecvLimitsTest, ThereAreNoneAtFirst) {
  post(16);
  EXPECT_EQ(passive_->recv_limits, 0);
  EXPECT_EQ(passive_->events(), "");
}

TEST_F(RecvLimitsTest, TheSoftLimitIsToldOnceWhenExceeded) {
  passive_->qp().set_recv_limits(2, hca::kNoRecvLimit);
  post(2);
  EXPECT_EQ(passive_->recv_limits, 0);
  post(1);
  EXPECT_EQ(passive_->recv_limits, 1);
  post(3);
  EXPECT_EQ(passive_->recv_limits, 1);
  EXPECT_EQ(passive_->qp().state(), QueuePairState::kConnected);
}

TEST_F(RecvLimitsTest, TheSoftLimitIsToldAtOnceWhenExceededAlready) {
  post(3);
  passive_->qp().set_recv_limits(2, hca::kNoRecvLimit);
  settle();
  EXPECT_EQ(passive_->recv_limits, 1);
}

TEST_F(RecvLimitsTest, SettingItAgainArmsItAgain) {
  passive_->qp().set_recv_limits(0, hca::kNoRecvLimit);
  post(1);
  passive_->qp().set_recv_limits(1, hca::kNoRecvLimit);
  settle();
  EXPECT_EQ(passive_->recv_limits, 1);
  post(1);
  EXPECT_EQ(passive_->recv_limits, 2);
}

TEST_F(RecvLimitsTest, BeyondTheHardLimitTheConnectionBreaks) {
  passive_->qp().set_recv_limits(hca::kNoRecvLimit, 2);
  post(2);
  EXPECT_EQ(passive_->events(), "");
  post(1);
  EXPECT_EQ(passive_->events(), "broken");
  EXPECT_EQ(active_->events(), "broken");
  EXPECT_EQ(passive_->recvs(), "1:flushed 1:flushed 1:flushed");
  EXPECT_EQ(passive_->recv_limits, 0);
}

TEST_F(RecvLimitsTest, TheHardLimitIsExceededAtOnceToo) {
  post(3);
  passive_->qp().set_recv_limits(hca::kNoRecvLimit, 2);
  settle();
  EXPECT_EQ(passive_->events(), "broken");
}

TEST_F(RecvLimitsTest, TheHardLimitWaitsForAConnection) {
  Endpoint late_active(here()), late_passive(there());
  late_passive.qp().set_recv_limits(hca::kNoRecvLimit, 0);
  expect_ok(late_passive.recv(1, {}));
  settle();
  EXPECT_EQ(late_passive.qp().state(), QueuePairState::kIdle);
  ListenerLog log;
  const auto listener = expect_ok(there().nic().listen(kService, 8, log));
  expect_ok(late_active.connect(there()));
  settle();
  ASSERT_EQ(log.requests.size(), 1u);
  expect_ok(log.requests[0]->accept(late_passive.qp(), {}));
  settle();
  EXPECT_EQ(late_passive.events(), "established broken");
  EXPECT_EQ(late_active.qp().state(), QueuePairState::kError);
}

TEST_F(RecvLimitsTest, TheTwoAreIndependent) {
  passive_->qp().set_recv_limits(0, 1);
  post(1);
  EXPECT_EQ(passive_->recv_limits, 1);
  EXPECT_EQ(passive_->events(), "");
  post(1);
  EXPECT_EQ(passive_->recv_limits, 1);
  EXPECT_EQ(passive_->events(), "broken");
}

}  // namespace
}  // namespace softdat::simnic::testing
