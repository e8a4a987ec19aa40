// SPDX-License-Identifier: BSD-2-Clause
// Faults of messages that a connection receives.
#include "tests/simnic/fault/fault_world.h"

namespace softdat::simnic::testing {
namespace {

using std::chrono::milliseconds;

class ArrivalFaultTest : public TransferFaultTest {
 protected:
  void send_four() { send_numbered(4); }
};

TEST_F(ArrivalFaultTest, AReceiveFailsWithTheCodesOfARealFailure) {
  begin("fail-receive process=there nth=2");
  send_four();
  EXPECT_EQ(passive_->recvs(), "1:ok 2:local-protection 3:flushed 4:flushed");
  // Without a size: how much of a message has come when it is decided on differs from run to run.
  EXPECT_EQ(log_.text(),
            "fail-receive process=there ia=sim0 endpoint=1 connection=1 number=2 status=protection  # recv\n");
  EXPECT_EQ(active_->sends(), "1:ok 2:remote-operation 3:flushed 4:flushed");
  EXPECT_EQ(active_->events(), "broken");
  EXPECT_EQ(passive_->events(), "broken");
}

TEST_F(ArrivalFaultTest, AReceiveIsTooShort) {
  begin("fail-receive process=there nth=1 status=length");
  send_four();
  EXPECT_EQ(passive_->recvs(), "1:local-length 2:flushed 3:flushed 4:flushed");
  EXPECT_EQ(active_->sends(), "1:remote-operation 2:flushed 3:flushed 4:flushed");
}

TEST_F(ArrivalFaultTest, AReceiverThatIsNotReadyIsSentToAgain) {
  begin("receiver-not-ready process=there nth=2 count=3");
  send_four();
  for (int i = 0; i < 5; ++i) world_->pass(milliseconds(1));
  EXPECT_EQ(passive_->recvs(), "1:ok 2:ok 3:ok 4:ok");
  EXPECT_EQ(active_->sends(), "1:ok 2:ok 3:ok 4:ok");
  EXPECT_EQ(to_->part(1, 4), bytes("1234"));
}

TEST_F(ArrivalFaultTest, AReceiverThatIsNotReadyForAWhile) {
  begin("receiver-not-ready process=there nth=2 ms=20");
  send_four();
  EXPECT_EQ(passive_->recvs(), "1:ok");
  world_->pass(milliseconds(20));
  EXPECT_EQ(passive_->recvs(), "2:ok 3:ok 4:ok");
}

TEST_F(ArrivalFaultTest, AReceiverThatIsNotReadyTerminatesWhereThatIsThePolicy) {
  begin("receiver-not-ready process=there nth=2", RnrPolicy::kTerminate);
  send_four();
  world_->pass(milliseconds(1));
  EXPECT_EQ(active_->sends(), "1:ok 2:rnr-retry-exceeded 3:flushed 4:flushed");
  EXPECT_EQ(active_->events(), "broken");
  EXPECT_EQ(passive_->events(), "broken");
}

TEST_F(ArrivalFaultTest, AQueueOfCompletionsOverflows) {
  begin("overflow-evd process=there nth=3");
  send_four();
  EXPECT_EQ(passive_->recv_log().overflows, 1);
  EXPECT_EQ(passive_->recv_cq().lost(), 1u);
  EXPECT_EQ(passive_->recvs(), "1:ok 2:ok 3:flushed 4:flushed");
  EXPECT_EQ(passive_->events(), "broken");
  EXPECT_EQ(active_->events(), "broken");
}

TEST_F(ArrivalFaultTest, AWaiterWakesAndFindsNothing) {
  begin("spurious-wake process=there nth=1");
  expect_ok(passive_->recv(1, {to_->segment(0, 1)}));
  passive_->recv_cq().arm(true);
  expect_ok(active_->send(1, {from_->segment(0, 1)}));
  settle();
  EXPECT_EQ(passive_->recv_log().completions, 1) << "the send was not solicited";
}

TEST_F(ArrivalFaultTest, OnlyASharedQueueRunsDry) {
  begin("dry-srq process=there");
  send_four();
  EXPECT_EQ(passive_->recvs(), "1:ok 2:ok 3:ok 4:ok");
  EXPECT_EQ(log_.text(), "");
}

TEST_F(ArrivalFaultTest, ASharedQueueRunsDry) {
  struct Low final : hca::SharedReceiveQueueSink {
    void on_low() override {}
  } low;
  use("dry-srq process=there nth=2 count=2");
  from_ = std::make_unique<Memory>(here(), bytes("0123456789abcdef"));
  to_ = std::make_unique<Memory>(there(), 16);
  hca::SharedReceiveQueueConfig config;
  config.pd = &there().pd();
  config.capacity = 8;
  config.max_sge = 1;
  config.sink = &low;
  const auto srq = expect_ok(there().nic().create_srq(config));
  passive_ = std::make_unique<Endpoint>(there(), Endpoint::kLimits, 64, nullptr, srq.get());
  world_->connect(*active_, *passive_);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    const hca::Segment segment = to_->segment(i, 1);
    expect_ok(srq->post_recv({.wr_id = i, .local = {&segment, 1}}));
  }
  for (std::uint64_t i = 1; i <= 3; ++i) expect_ok(active_->send(i, {from_->segment(i, 1)}));
  settle();
  for (int i = 0; i < 5; ++i) world_->pass(milliseconds(1));
  EXPECT_EQ(passive_->recvs(), "1:ok 2:ok 3:ok");
  EXPECT_EQ(active_->sends(), "1:ok 2:ok 3:ok");
  EXPECT_NE(log_.text().find("dry-srq process=there ia=sim0 endpoint=2"), std::string::npos) << log_.text();
  passive_.reset();
}

}  // namespace
}  // namespace softdat::simnic::testing
