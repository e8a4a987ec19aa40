// SPDX-License-Identifier: BSD-2-Clause
// Sends and receives: shapes, sizes, order, completions.
#include "tests/simnic/world.h"

namespace softdat::simnic::testing {
namespace {

class MessageTest : public ConnectedTest {};

TEST_F(MessageTest, ASendFillsTheReceiveAndCompletesBothSides) {
  Memory from(here(), bytes("hello, world")), to(there(), 64);
  expect_ok(passive_->recv(1, {to.all()}));
  expect_ok(active_->send(2, {from.all()}));
  EXPECT_EQ(active_->qp().sends_outstanding(), 1u);
  settle();
  EXPECT_EQ(to.text(12), "hello, world");
  const auto received = passive_->next_recv();
  ASSERT_TRUE(received);
  EXPECT_EQ(received->wr_id, 1u);
  EXPECT_EQ(received->status, CompletionStatus::kSuccess);
  EXPECT_EQ(received->opcode, CompletionOpcode::kRecv);
  EXPECT_EQ(received->length, 12u);
  EXPECT_FALSE(received->solicited);
  EXPECT_EQ(received->qp_context, reinterpret_cast<std::uintptr_t>(passive_.get()));
  const auto sent = active_->next_send();
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->wr_id, 2u);
  EXPECT_EQ(sent->opcode, CompletionOpcode::kSend);
  EXPECT_EQ(sent->length, 12u);
  EXPECT_EQ(sent->qp_context, reinterpret_cast<std::uintptr_t>(active_.get()));
  EXPECT_EQ(active_->qp().sends_outstanding(), 0u);
  EXPECT_EQ(passive_->qp().recvs_outstanding(), 0u);
}

TEST_F(MessageTest, ASendDoesNotCompleteBeforeThePeerHasCarriedItOut) {
  Memory from(here(), 8), to(there(), 8);
  expect_ok(passive_->recv(1, {to.all()}));
  expect_ok(active_->send(2, {from.all()}));
  world_->turn_here();
  EXPECT_EQ(active_->sends(), "");
  world_->turn_there();
  world_->turn_here();
  EXPECT_EQ(active_->sends(), "2:ok");
}

TEST_F(MessageTest, EmptySendsAndReceivesNeedNoSegments) {
  expect_ok(passive_->recv(1, {}));
  expect_ok(passive_->recv(2, {{0, 0, 0xdead}}));
  expect_ok(active_->send(3, {}));
  expect_ok(active_->send(4, {{0x1234, 0, 0xbeef}}));
  settle();
  EXPECT_EQ(active_->sends(), "3:ok 4:ok");
  EXPECT_EQ(passive_->recvs(), "1:ok 2:ok");
}

TEST_F(MessageTest, GatheredSendsAreScatteredOverOtherShapes) {
  const auto content = pattern(1000, 1);
  Memory from(here(), content), to(there(), 1000);
  const Segments gather{from.segment(0, 1), from.segment(1, 0), from.segment(1, 500), from.segment(501, 499)};
  const Segments scatter{to.segment(900, 100), to.segment(0, 333), to.segment(333, 567)};
  expect_ok(passive_->recv(1, scatter));
  expect_ok(active_->send(2, gather));
  settle();
  EXPECT_EQ(to.part(900, 100), from.part(0, 100));
  EXPECT_EQ(to.part(0, 900), from.part(100, 900));
  EXPECT_EQ(active_->sends(), "2:ok");
}

TEST_F(MessageTest, LongMessagesArriveWholeOverAChannelThatTakesThemInPieces) {
  use({.seed = 7, .capacity = 10000, .max_per_send = 3333, .max_chunk = 777, .random_chunks = true});
  const auto content = pattern(300000, 2);
  Memory from(here(), content), to(there(), 300000);
  expect_ok(passive_->recv(1, {to.segment(0, 100000), to.segment(100000, 200000)}));
  expect_ok(active_->send(2, {from.segment(0, 299999), from.segment(299999, 1)}));
  settle();
  EXPECT_EQ(passive_->recvs(), "1:ok");
  EXPECT_EQ(active_->sends(), "2:ok");
  EXPECT_TRUE(to.content() == content);
}

TEST_F(MessageTest, SendsMatchReceivesInPostingOrder) {
  Memory from(here(), bytes("abcdefgh")), to(there(), 8);
  for (std::uint64_t i = 0; i < 8; ++i) expect_ok(passive_->recv(i, {to.segment(i, 1)}));
  for (std::uint64_t i = 0; i < 8; ++i) expect_ok(active_->send(i, {from.segment(i, 1)}));
  settle();
  EXPECT_EQ(to.text(8), "abcdefgh");
  EXPECT_EQ(passive_->recvs(), "0:ok 1:ok 2:ok 3:ok 4:ok 5:ok 6:ok 7:ok");
  EXPECT_EQ(active_->sends(), "0:ok 1:ok 2:ok 3:ok 4:ok 5:ok 6:ok 7:ok");
}

TEST_F(MessageTest, BothDirectionsAtOnce) {
  Memory a(here(), bytes("ping")), b(there(), bytes("pong"));
  Memory to_a(here(), 4), to_b(there(), 4);
  expect_ok(active_->recv(1, {to_a.all()}));
  expect_ok(passive_->recv(2, {to_b.all()}));
  expect_ok(active_->send(3, {a.all()}));
  expect_ok(passive_->send(4, {b.all()}));
  settle();
  EXPECT_EQ(to_a.text(4), "pong");
  EXPECT_EQ(to_b.text(4), "ping");
  EXPECT_EQ(active_->sends() + passive_->sends(), "3:ok4:ok");
}

TEST_F(MessageTest, UnsignaledSuccessesCompleteSilently) {
  Memory from(here(), 4), to(there(), 4);
  for (std::uint64_t i = 0; i < 3; ++i) expect_ok(passive_->recv(i, {to.all()}));
  expect_ok(active_->send(1, {from.all()}, 0));
  expect_ok(active_->send(2, {from.all()}, 0));
  expect_ok(active_->send(3, {from.all()}, hca::kSignaled));
  settle();
  EXPECT_EQ(active_->sends(), "3:ok");
  EXPECT_EQ(active_->qp().sends_outstanding(), 0u);
}

TEST_F(MessageTest, ASolicitedSendMarksThePeersCompletion) {
  Memory from(here(), 4), to(there(), 4);
  expect_ok(passive_->recv(1, {to.all()}));
  expect_ok(active_->send(2, {from.all()}, hca::kSignaled | hca::kSolicited));
  settle();
  const auto received = passive_->next_recv();
  ASSERT_TRUE(received);
  EXPECT_TRUE(received->solicited);
  EXPECT_FALSE(active_->next_send()->solicited);
}

TEST_F(MessageTest, AnArmedQueueTellsOfTheNextWakingCompletionOnly) {
  Memory from(here(), 4), to(there(), 4);
  for (std::uint64_t i = 0; i < 4; ++i) expect_ok(passive_->recv(i, {to.all()}, i == 0 ? hca::kQuiet : 0u));
  passive_->recv_cq().arm(false);
  expect_ok(active_->send(1, {from.all()}));
  settle();
  EXPECT_EQ(passive_->recv_log().completions, 0);
  expect_ok(active_->send(2, {from.all()}));
  expect_ok(active_->send(3, {from.all()}));
  settle();
  EXPECT_EQ(passive_->recv_log().completions, 1);
  passive_->recv_cq().arm(true);
  EXPECT_EQ(passive_->recvs(), "0:ok 1:ok 2:ok");
  expect_ok(active_->send(4, {from.all()}, hca::kSolicited));
  settle();
  EXPECT_EQ(passive_->recv_log().completions, 2);
}

TEST_F(MessageTest, AFailureWakesAQueueArmedForSolicitedCompletions) {
  Memory to(there(), 4);
  expect_ok(passive_->recv(1, {to.all()}));
  passive_->recv_cq().arm(true);
  expect_ok(active_->qp().disconnect(false));
  settle();
  EXPECT_EQ(passive_->recv_log().completions, 1);
  EXPECT_EQ(passive_->recvs(), "1:flushed");
}

TEST_F(MessageTest, ManyMessagesThroughShallowQueuesAndPatientAcks) {
  const auto content = pattern(5000, 3);
  Memory from(here(), content), to(there(), 5000);
  std::size_t sent = 0, received = 0, completed = 0;
  for (int round = 0; completed < 100 && round < 100000; ++round) {
    const std::size_t slot = sent % 100;
    if (sent < 100 && active_->send(sent, {from.segment(slot * 50, 50)})) ++sent;
    if (received < 100 && passive_->recv(received, {to.segment(received * 50, 50)})) ++received;
    here().nic().turn(world_->now(), Haste::kPatient);
    there().nic().turn(world_->now(), Haste::kPatient);
    while (const auto done = active_->next_send()) {
      EXPECT_EQ(done->wr_id, completed++);
      EXPECT_EQ(done->status, CompletionStatus::kSuccess);
    }
    while (passive_->next_recv()) continue;
  }
  EXPECT_EQ(completed, 100u);
  EXPECT_TRUE(to.content() == content);
}

}  // namespace
}  // namespace softdat::simnic::testing
