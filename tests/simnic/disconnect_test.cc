// SPDX-License-Identifier: BSD-2-Clause
// Connections ending: gracefully, abruptly, by death, by destruction, and all at once.
#include "tests/simnic/world.h"

namespace softdat::simnic::testing {
namespace {

class DisconnectTest : public ConnectedTest {};

TEST_F(DisconnectTest, BothSidesHearItOnceAndReceivesAreFlushedInOrder) {
  Memory buffer(here(), 8);
  for (std::uint64_t i = 0; i < 3; ++i) expect_ok(active_->recv(i, {buffer.all()}));
  for (std::uint64_t i = 3; i < 6; ++i) expect_ok(passive_->recv(i, {}));
  expect_ok(active_->qp().disconnect(true));
  settle();
  EXPECT_EQ(active_->events(), "disconnected");
  EXPECT_EQ(passive_->events(), "disconnected");
  EXPECT_EQ(active_->recvs(), "0:flushed 1:flushed 2:flushed");
  EXPECT_EQ(passive_->recvs(), "3:flushed 4:flushed 5:flushed");
  EXPECT_EQ(active_->qp().state(), QueuePairState::kError);
  EXPECT_EQ(passive_->qp().state(), QueuePairState::kError);
  expect_ok(active_->qp().disconnect(true));
  expect_ok(passive_->qp().disconnect(false));
  settle();
  EXPECT_EQ(active_->events() + passive_->events(), "");
}

TEST_F(DisconnectTest, AGracefulOneLetsWhatIsPostedComplete) {
  use({.capacity = 2000, .max_chunk = 100});
  const auto content = pattern(20000, 1);
  Memory from(here(), content), to(there(), 20000), back(here(), 20000), inbox(there(), 10);
  expect_ok(active_->write(1, {from.all()}, to));
  expect_ok(active_->read(2, {back.all()}, to, 0, hca::kSignaled | hca::kFence));
  expect_ok(active_->send(3, {from.segment(0, 10)}));
  expect_ok(active_->qp().disconnect(true));
  EXPECT_EQ(active_->qp().state(), QueuePairState::kDisconnecting);
  world_->settle();
  EXPECT_EQ(active_->events(), "");  // the send still waits for a receive
  expect_ok(passive_->recv(4, {inbox.all()}));
  settle();
  EXPECT_EQ(active_->sends(), "1:ok 2:ok 3:ok");
  EXPECT_EQ(passive_->recvs(), "4:ok");
  EXPECT_TRUE(to.content() == content);
  EXPECT_EQ(active_->events() + passive_->events(), "disconnecteddisconnected");
}

TEST_F(DisconnectTest, WhatIsPostedWhileDrainingIsFlushedBehindTheRest) {
  Memory from(here(), 4), to(there(), 4);
  expect_ok(active_->send(1, {from.all()}));
  expect_ok(active_->qp().disconnect(true));
  expect_ok(active_->send(2, {from.all()}));
  settle();
  EXPECT_EQ(active_->sends(), "");
  expect_ok(passive_->recv(3, {to.all()}));
  expect_ok(passive_->recv(4, {to.all()}));
  settle();
  EXPECT_EQ(active_->sends(), "1:ok 2:flushed");
  EXPECT_EQ(passive_->recvs(), "3:ok 4:flushed");
}

TEST_F(DisconnectTest, AnAbruptOneFlushesWhatIsPosted) {
  Memory from(here(), 4);
  for (std::uint64_t i = 0; i < 3; ++i) expect_ok(active_->send(i, {from.all()}));
  expect_ok(active_->recv(7, {}));
  expect_ok(active_->qp().disconnect(false));
  EXPECT_EQ(active_->sends(), "0:flushed 1:flushed 2:flushed");
  EXPECT_EQ(active_->recvs(), "7:flushed");
  settle();
  EXPECT_EQ(active_->events() + passive_->events(), "disconnecteddisconnected");
}

TEST_F(DisconnectTest, AnAbruptOneCutsAGracefulOneShort) {
  Memory from(here(), 4);
  expect_ok(active_->send(1, {from.all()}));
  expect_ok(active_->qp().disconnect(true));
  settle();
  EXPECT_EQ(active_->events(), "");
  expect_ok(active_->qp().disconnect(false));
  settle();
  EXPECT_EQ(active_->sends(), "1:flushed");
  EXPECT_EQ(active_->events(), "disconnected");
}

TEST_F(DisconnectTest, WhatThePeerWasOwedIsAcknowledgedInParting) {
  Memory from(here(), bytes("ok")), to(there(), 2);
  expect_ok(passive_->recv(1, {to.all()}));
  expect_ok(active_->send(2, {from.all()}));
  there().nic().turn(world_->now(), Haste::kPatient);
  EXPECT_EQ(passive_->recvs(), "1:ok");
  expect_ok(passive_->qp().disconnect(false));
  settle();
  EXPECT_EQ(active_->sends(), "2:ok");
  EXPECT_EQ(active_->events(), "disconnected");
}

TEST_F(DisconnectTest, BothSidesMayDisconnectAtOnce) {
  for (const bool graceful : {true, false}) {
    use({});
    expect_ok(active_->qp().disconnect(graceful));
    expect_ok(passive_->qp().disconnect(graceful));
    settle();
    EXPECT_EQ(active_->events() + passive_->events(), "disconnecteddisconnected");
  }
}

TEST_F(DisconnectTest, PostsAfterTheEndAreFlushedAtOnce) {
  Memory from(here(), 4);
  expect_ok(active_->qp().disconnect(false));
  expect_ok(active_->send(1, {from.all()}, 0));
  expect_ok(active_->recv(2, {from.all()}));
  EXPECT_EQ(active_->sends(), "1:flushed");
  EXPECT_EQ(active_->recvs(), "2:flushed");
  EXPECT_EQ(active_->qp().sends_outstanding() + active_->qp().recvs_outstanding(), 0u);
}

TEST_F(DisconnectTest, ThePeersDeathBreaksTheConnection) {
  Memory from(here(), 4);
  expect_ok(active_->send(1, {from.all()}));
  expect_ok(active_->recv(2, {}));
  world_->kill_there();
  settle();
  EXPECT_EQ(active_->sends(), "1:flushed");
  EXPECT_EQ(active_->recvs(), "2:flushed");
  EXPECT_EQ(active_->events(), "broken");
}

TEST_F(DisconnectTest, ALostNetworkBreaksBothSides) {
  world_->network().cut(here().carrier(), there().carrier());
  settle();
  EXPECT_EQ(active_->events() + passive_->events(), "brokenbroken");
}

TEST_F(DisconnectTest, ADestroyedQueuePairIsADisconnectToThePeer) {
  Memory from(here(), 4);
  expect_ok(active_->send(1, {from.all()}));
  expect_ok(active_->recv(2, {}));
  active_->destroy_qp();
  EXPECT_EQ(active_->sends() + active_->recvs(), "");
  settle();
  EXPECT_EQ(passive_->events(), "disconnected");
  EXPECT_EQ(active_->events(), "");
}

TEST_F(DisconnectTest, AnIdleQueuePairCannotDisconnect) {
  Endpoint idle(here());
  EXPECT_EQ(reason(idle.qp().disconnect(true)), hca::Error::kInvalidState);
  EXPECT_EQ(reason(idle.qp().disconnect(false)), hca::Error::kInvalidState);
}

TEST_F(DisconnectTest, GivingUpAConnectIsHeardOnce) {
  there().carrier().set_connect_policy(transport::loop::ConnectPolicy::kSwallow);
  for (const bool graceful : {true, false}) {
    Endpoint other(here());
    expect_ok(other.connect(there(), kService, "", std::chrono::seconds(1)));
    expect_ok(other.qp().disconnect(graceful));
    world_->pass(std::chrono::seconds(5));
    EXPECT_EQ(other.events(), "disconnected");
    EXPECT_EQ(other.qp().state(), QueuePairState::kError);
  }
}

TEST_F(DisconnectTest, GivingUpAnAcceptIsHeardOnce) {
  ListenerLog log;
  const auto listener = expect_ok(there().nic().listen(kService, 1, log));
  Endpoint a(here()), b(there());
  expect_ok(a.connect(there()));
  settle();
  ASSERT_EQ(log.requests.size(), 1u);
  expect_ok(log.requests[0]->accept(b.qp(), {}));
  expect_ok(b.qp().disconnect(true));
  settle();
  EXPECT_EQ(b.events(), "disconnected");
  // The connector saw the answer, or its withdrawal.
  EXPECT_TRUE(a.qp().state() == QueuePairState::kError);
}

TEST_F(DisconnectTest, AQueuePairMayBeDestroyedFromWithinItsOwnSink) {
  struct Suicide final : hca::QueuePairSink {
    void on_connection_event(const hca::ConnectionEvent&) override { endpoint->destroy_qp(); }
    Endpoint* endpoint = nullptr;
  } sink;
  Endpoint shell(here());
  sink.endpoint = &shell;
  shell.destroy_qp();
  hca::QueuePairConfig config;
  config.pd = &here().pd();
  config.send_cq = &shell.send_cq();
  config.recv_cq = &shell.recv_cq();
  config.sink = &sink;
  shell.adopt(expect_ok(here().nic().create_qp(config)));
  expect_ok(shell.connect(there(), 12345));
  settle();
  EXPECT_FALSE(shell.has_qp());
}

TEST_F(DisconnectTest, EventsOfADestroyedQueuePairDoNotCome) {
  expect_ok(active_->qp().disconnect(false));
  active_->destroy_qp();
  settle();
  EXPECT_EQ(active_->events(), "");
}

}  // namespace
}  // namespace softdat::simnic::testing
