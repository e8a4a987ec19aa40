// SPDX-License-Identifier: BSD-2-Clause
// A send that finds no receive posted: waits, or terminates, as the policy says.
#include "tests/simnic/world.h"

namespace softdat::simnic::testing {
namespace {

class ReceiverNotReadyTest : public ConnectedTest {};

TEST_F(ReceiverNotReadyTest, TheSendWaitsForItsReceive) {
  Memory from(here(), bytes("late")), to(there(), 4);
  expect_ok(active_->send(1, {from.all()}));
  settle();
  EXPECT_EQ(active_->sends(), "");
  EXPECT_EQ(active_->qp().sends_outstanding(), 1u);
  expect_ok(passive_->recv(2, {to.all()}));
  settle();
  EXPECT_EQ(to.text(4), "late");
  EXPECT_EQ(active_->sends(), "1:ok");
  EXPECT_EQ(passive_->recvs(), "2:ok");
}

TEST_F(ReceiverNotReadyTest, NothingBehindItIsCarriedOutBeforeIt) {
  Memory from(here(), bytes("NEW")), to(there(), bytes("old")), back(here(), 3), message(there(), 3);
  expect_ok(active_->send(1, {from.all()}));
  expect_ok(active_->write(2, {from.all()}, to));
  expect_ok(active_->read(3, {back.all()}, to));
  settle();
  EXPECT_EQ(to.text(3), "old");
  EXPECT_EQ(active_->sends(), "");
  expect_ok(passive_->recv(4, {message.all()}));
  settle();
  EXPECT_EQ(to.text(3), "NEW");
  EXPECT_EQ(back.text(3), "NEW");
  EXPECT_EQ(active_->sends(), "1:ok 2:ok 3:ok");
}

TEST_F(ReceiverNotReadyTest, WhatWasCarriedOutBeforeItIsAcknowledgedMeanwhile) {
  Memory from(here(), bytes("x")), to(there(), 1), back(here(), 1), message(there(), 1);
  expect_ok(active_->write(1, {from.all()}, to));
  expect_ok(active_->read(2, {back.all()}, to));
  expect_ok(active_->send(3, {from.all()}));
  settle();
  EXPECT_EQ(active_->sends(), "1:ok 2:ok");
  EXPECT_EQ(back.text(1), "x");
}

TEST_F(ReceiverNotReadyTest, OneReceiveAtATime) {
  Memory from(here(), bytes("abcdefgh")), to(there(), 8);
  for (std::uint64_t i = 0; i < 8; ++i) expect_ok(active_->send(i, {from.segment(i, 1)}));
  for (std::uint64_t i = 0; i < 8; ++i) {
    settle();
    expect_ok(passive_->recv(i, {to.segment(i, 1)}));
  }
  settle();
  EXPECT_EQ(to.text(8), "abcdefgh");
  EXPECT_EQ(active_->sends(), "0:ok 1:ok 2:ok 3:ok 4:ok 5:ok 6:ok 7:ok");
}

TEST_F(ReceiverNotReadyTest, AReceivePostedWhileTheMessageIsUnderWay) {
  use({.capacity = 2000, .max_chunk = 100, .items_per_turn = 3});
  const auto content = pattern(20000, 4);
  Memory from(here(), content), to(there(), 20000);
  expect_ok(active_->send(1, {from.all()}));
  for (int i = 0; i < 4; ++i) {
    world_->turn_there();
    world_->turn_here();
  }
  expect_ok(passive_->recv(2, {to.all()}));
  settle();
  EXPECT_EQ(active_->sends(), "1:ok");
  EXPECT_EQ(passive_->recvs(), "2:ok");
  EXPECT_TRUE(to.content() == content);
}

// A post must not run the queue pair any more, because that takes the baton. A run shows by the ack that it sends.
TEST_F(ReceiverNotReadyTest, PostsRunTheQueuePairNoLongerOnceTheSendHasItsReceive) {
  Memory from(here(), bytes("ab")), to(there(), 2);
  expect_ok(active_->send(1, {from.segment(0, 1)}));
  settle();
  expect_ok(passive_->recv(2, {to.segment(0, 1)}));
  expect_ok(passive_->recv(3, {to.segment(1, 1)}));
  settle();
  ASSERT_EQ(active_->sends(), "1:ok");
  expect_ok(active_->send(4, {from.segment(1, 1)}));
  world_->turn_here();
  there().nic().turn(world_->now(), Haste::kPatient);  // takes the message, and puts the ack off
  ASSERT_EQ(passive_->recvs(), "2:ok 3:ok");
  expect_ok(passive_->recv(5, {to.segment(0, 1)}));
  world_->turn_here();
  EXPECT_EQ(active_->sends(), "");
  settle();
  EXPECT_EQ(active_->sends(), "4:ok");
}

TEST_F(ReceiverNotReadyTest, BothSidesMayWaitForEachOther) {
  Memory a(here(), bytes("a")), b(there(), bytes("b")), to_a(here(), 1), to_b(there(), 1);
  expect_ok(active_->send(1, {a.all()}));
  expect_ok(passive_->send(2, {b.all()}));
  settle();
  expect_ok(active_->recv(3, {to_a.all()}));
  expect_ok(passive_->recv(4, {to_b.all()}));
  settle();
  EXPECT_EQ(to_a.text(1) + to_b.text(1), "ba");
  EXPECT_EQ(active_->sends() + passive_->sends(), "1:ok2:ok");
}

TEST_F(ReceiverNotReadyTest, AReadAnsweredMeanwhileIsNotAskedAgain) {
  use({.capacity = 1500, .max_chunk = 100, .items_per_turn = 1});
  const auto content = pattern(5000, 4);
  Memory from(there(), content), to(here(), 5000), x(here(), 1), message(there(), 1);
  expect_ok(active_->read(1, {to.all()}, from));
  expect_ok(active_->send(2, {x.all()}));
  expect_ok(active_->read(3, {to.segment(0, 10)}, from, 100));
  for (int i = 0; i < 10; ++i) {
    world_->turn_there();
    world_->turn_here();
  }
  expect_ok(passive_->recv(4, {message.all()}));
  settle();
  EXPECT_EQ(active_->sends(), "1:ok 2:ok 3:ok");
  EXPECT_EQ(to.part(0, 10), from.part(100, 10));
  EXPECT_EQ(to.part(10, 4990), from.part(10, 4990));
}

TEST_F(ReceiverNotReadyTest, TheWaitEndsWithTheConnection) {
  Memory from(here(), 1);
  expect_ok(active_->send(1, {from.all()}));
  settle();
  expect_ok(passive_->qp().disconnect(true));
  settle();
  EXPECT_EQ(active_->sends(), "1:flushed");
  EXPECT_EQ(active_->events(), "disconnected");
}

TEST_F(ReceiverNotReadyTest, TheStrictPolicyTerminates) {
  use({}, RnrPolicy::kTerminate);
  Memory from(here(), 1), to(there(), 1);
  expect_ok(passive_->recv(1, {to.all()}));
  for (std::uint64_t i = 2; i < 5; ++i) expect_ok(active_->send(i, {from.all()}));
  settle();
  EXPECT_EQ(active_->sends(), "2:ok 3:rnr-retry-exceeded 4:flushed");
  EXPECT_EQ(active_->events(), "broken");
  EXPECT_EQ(passive_->recvs(), "1:ok");
  EXPECT_EQ(passive_->events(), "broken");
}

}  // namespace
}  // namespace softdat::simnic::testing
