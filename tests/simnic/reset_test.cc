// SPDX-License-Identifier: BSD-2-Clause
// Queue pairs that live again.
#include "tests/simnic/world.h"

namespace softdat::simnic::testing {
namespace {

class ResetTest : public ConnectedTest {};

TEST_F(ResetTest, AReconnectedPairStartsAfresh) {
  Memory from(here(), bytes("again")), to(there(), 8);
  for (int life = 0; life < 5; ++life) {
    if (life > 0) world_->connect(*active_, *passive_);
    expect_ok(passive_->recv(1, {to.all()}));
    expect_ok(active_->send(2, {from.all()}));
    expect_ok(active_->read(3, {from.all()}, to));
    settle();
    EXPECT_EQ(active_->sends(), "2:ok 3:ok");
    EXPECT_EQ(passive_->recvs(), "1:ok");
    expect_ok(active_->send(4, {from.all()}));  // waits for ever
    expect_ok((life % 2 == 0 ? active_ : passive_)->qp().disconnect(false));
    settle();
    EXPECT_EQ(active_->events() + passive_->events(), "disconnecteddisconnected");
    EXPECT_EQ(active_->sends(), "4:flushed");
    expect_ok(active_->qp().reset());
    expect_ok(passive_->qp().reset());
    EXPECT_EQ(active_->qp().state(), QueuePairState::kIdle);
  }
}

TEST_F(ResetTest, WhatOneLifeHasLostDoesNotBreakTheNext) {
  Memory to(here(), 8), from(there(), bytes("again"));
  Endpoint small(here(), Endpoint::kLimits, 2), other(there());
  world_->connect(small, other);
  for (std::uint64_t i = 0; i < 5; ++i) expect_ok(small.recv(i, {}));
  expect_ok(small.qp().disconnect(false));
  settle();
  EXPECT_EQ(small.recv_log().overflows, 1);
  small.recvs();
  small.events();
  other.events();
  expect_ok(small.recv_cq().resize(16));
  expect_ok(small.qp().reset());
  expect_ok(other.qp().reset());
  world_->connect(small, other);
  expect_ok(small.recv(9, {to.all()}));
  expect_ok(other.send(1, {from.all()}));
  settle();
  EXPECT_EQ(small.recvs(), "9:ok");
  EXPECT_EQ(small.events() + other.events(), "");
  EXPECT_EQ(small.qp().state(), QueuePairState::kConnected);
}

TEST_F(ResetTest, ResettingAnIdleQueuePairFlushesItsReceives) {
  Endpoint idle(here());
  expect_ok(idle.recv(1, {}));
  expect_ok(idle.recv(2, {}));
  expect_ok(idle.qp().reset());
  EXPECT_EQ(idle.recvs(), "1:flushed 2:flushed");
  EXPECT_EQ(idle.qp().state(), QueuePairState::kIdle);
}

TEST_F(ResetTest, ALiveConnectionCannotBeReset) {
  EXPECT_EQ(reason(active_->qp().reset()), hca::Error::kInvalidState);
  EXPECT_EQ(active_->qp().state(), QueuePairState::kConnected);
}

TEST_F(ResetTest, ARejectedQueuePairMayTryAgain) {
  Endpoint again(here());
  expect_ok(again.connect(there(), 4711));
  settle();
  EXPECT_EQ(again.events(), "non-peer-rejected");
  EXPECT_EQ(reason(again.connect(there(), 4711)), hca::Error::kInvalidState);
  expect_ok(again.qp().reset());
  Endpoint other(there());
  world_->connect(again, other);
}

TEST_F(ResetTest, TheServiceOfAnEarlierConnectIsNotThatOfAnAcceptedConnection) {
  Endpoint again(here()), other(there());
  expect_ok(again.connect(there(), 4711));
  settle();
  EXPECT_EQ(again.events(), "non-peer-rejected");
  EXPECT_EQ(again.failure.value().service_id, 4711u);
  expect_ok(again.qp().reset());
  world_->connect(other, again, here());
  world_->kill_there();
  settle();
  EXPECT_EQ(again.events(), "broken");
  EXPECT_EQ(again.failure.value().rule, hca::Rule::kPeerLost);
  EXPECT_EQ(again.failure.value().service_id, 0u);
}

TEST_F(ResetTest, ALossInOneLifeIsForgottenInTheNext) {
  use({}, RnrPolicy::kWait, Endpoint::kLimits, 2);
  Memory from(here(), 8), to(there(), 8);
  for (std::uint64_t i = 0; i < 5; ++i) expect_ok(active_->write(i, {from.all()}, to));
  settle();
  EXPECT_EQ(active_->events() + passive_->events(), "brokenbroken");
  EXPECT_EQ(active_->sends(), "0:ok 1:ok");
  expect_ok(active_->qp().reset());
  expect_ok(passive_->qp().reset());
  world_->connect(*active_, *passive_);
  expect_ok(active_->write(9, {from.all()}, to));
  settle();
  EXPECT_EQ(active_->sends(), "9:ok");
}

}  // namespace
}  // namespace softdat::simnic::testing
