// SPDX-License-Identifier: BSD-2-Clause
// RDMA reads: what comes back and where, how many at a time, and fences.
#include "tests/simnic/world.h"

namespace softdat::simnic::testing {
namespace {

class ReadTest : public ConnectedTest {};

TEST_F(ReadTest, BringsTheTargetsBytes) {
  Memory to(here(), 8), from(there(), bytes("..secret.."));
  expect_ok(active_->read(1, {to.segment(1, 6)}, from, 2));
  settle();
  EXPECT_EQ(to.part(1, 6), bytes("secret"));
  const auto done = active_->next_send();
  ASSERT_TRUE(done);
  EXPECT_EQ(done->opcode, CompletionOpcode::kRead);
  EXPECT_EQ(done->length, 6u);
  EXPECT_EQ(passive_->recvs(), "");
}

TEST_F(ReadTest, ScattersOverManySegments) {
  const auto content = pattern(9000, 8);
  Memory to(here(), 9000), from(there(), content);
  expect_ok(active_->read(1, {to.segment(8000, 1000), to.segment(0, 1), to.segment(1, 7999)}, from));
  settle();
  EXPECT_EQ(to.part(8000, 1000), from.part(0, 1000));
  EXPECT_EQ(to.part(0, 8000), from.part(1000, 8000));
}

TEST_F(ReadTest, AnEmptyReadNeedsNoKey) {
  hca::SendRequest request;
  request.opcode = hca::SendOpcode::kRead;
  request.flags = hca::kSignaled;
  request.rkey = 77;
  expect_ok(active_->qp().post_send(request));
  settle();
  EXPECT_EQ(active_->sends(), "0:ok");
}

TEST_F(ReadTest, MoreReadsThanMayBeOutstandingWaitTheirTurn) {
  const auto content = pattern(1600, 9);
  Memory to(here(), 1600), from(there(), content);
  for (std::uint64_t i = 0; i < 16; ++i) expect_ok(active_->read(i, {to.segment(i * 100, 100)}, from, i * 100));
  settle();
  EXPECT_TRUE(to.content() == content);
  EXPECT_EQ(active_->sends(), "0:ok 1:ok 2:ok 3:ok 4:ok 5:ok 6:ok 7:ok 8:ok 9:ok 10:ok 11:ok 12:ok 13:ok 14:ok 15:ok");
}

TEST_F(ReadTest, TheLesserOfBothSidesLimitsCounts) {
  reconnect_with_ird(1);
  Memory to(here(), 30), from(there(), bytes("0123456789"));
  for (std::uint64_t i = 0; i < 3; ++i) expect_ok(active_->read(i, {to.segment(i * 10, 10)}, from));
  settle();
  EXPECT_EQ(active_->sends(), "0:ok 1:ok 2:ok");
  EXPECT_EQ(active_->events(), "");
}

TEST_F(ReadTest, AReadToAPeerThatAnswersNoneFailsInItsTurn) {
  reconnect_with_ird(0);
  Memory local(here(), 8), remote(there(), 8);
  expect_ok(active_->write(1, {local.all()}, remote));
  expect_ok(active_->read(2, {local.all()}, remote));
  expect_ok(active_->write(3, {local.all()}, remote));
  settle();
  EXPECT_EQ(active_->sends(), "1:ok 2:remote-operation 3:flushed");
  EXPECT_EQ(active_->events(), "broken");
}

TEST_F(ReadTest, AReadIsFoundBehindManyRequestsThatWerePassedOver) {
  // The slots of requests done long ago hold reads by the time a response comes.
  Memory local(here(), 64), remote(there(), pattern(64, 1));
  for (std::uint64_t i = 0; i < 50; ++i) {
    for (int write = 0; write < 7; ++write) expect_ok(active_->write(i, {local.segment(32, 1)}, remote, 63, 0));
    expect_ok(active_->read(i, {local.segment(0, 1 + i % 32)}, remote));
    expect_ok(active_->read(i, {local.segment(32, 2)}, remote, 7));
    settle();
    EXPECT_EQ(active_->sends(), std::to_string(i) + ":ok " + std::to_string(i) + ":ok");
  }
}

TEST_F(ReadTest, CompletionsStayInOrderWhenAWriteOvertakesARead) {
  use({.seed = 11, .capacity = 3000, .max_chunk = 100});
  const auto content = pattern(50000, 1);
  Memory to(here(), 50000), from(there(), content), small(here(), bytes("w")), target(there(), 1);
  expect_ok(active_->read(1, {to.all()}, from));
  expect_ok(active_->write(2, {small.all()}, target));
  settle();
  EXPECT_EQ(active_->sends(), "1:ok 2:ok");
  EXPECT_TRUE(to.content() == content);
}

TEST_F(ReadTest, AFencedRequestStartsOnlyAfterEarlierReads) {
  Memory to(here(), 1), from(there(), bytes("A"));
  // Without the fence the send would leave at once and carry the old byte.
  Memory message(there(), 1);
  expect_ok(passive_->recv(9, {message.all()}));
  expect_ok(active_->read(1, {to.all()}, from));
  expect_ok(active_->send(2, {to.all()}, hca::kSignaled | hca::kFence));
  settle();
  EXPECT_EQ(message.text(1), "A");
  EXPECT_EQ(active_->sends(), "1:ok 2:ok");
}

TEST_F(ReadTest, BothSidesReadLongStretchesAtOnce) {
  use({.seed = 5, .capacity = 4000, .max_per_send = 900, .max_chunk = 333, .random_chunks = true});
  const auto one = pattern(60000, 1), two = pattern(60000, 2);
  Memory a(here(), one), b(there(), two), to_a(here(), 60000), to_b(there(), 60000);
  expect_ok(active_->read(1, {to_a.segment(0, 30000)}, b, 0));
  expect_ok(passive_->read(2, {to_b.segment(0, 30000)}, a, 0));
  expect_ok(active_->read(3, {to_a.segment(30000, 30000)}, b, 30000));
  expect_ok(passive_->read(4, {to_b.segment(30000, 30000)}, a, 30000));
  settle();
  EXPECT_EQ(active_->sends(), "1:ok 3:ok");
  EXPECT_EQ(passive_->sends(), "2:ok 4:ok");
  EXPECT_TRUE(to_a.content() == two);
  EXPECT_TRUE(to_b.content() == one);
}

}  // namespace
}  // namespace softdat::simnic::testing
