// SPDX-License-Identifier: BSD-2-Clause
// RDMA writes: where they land, what completes, what the target notices.
#include "tests/simnic/world.h"

namespace softdat::simnic::testing {
namespace {

class WriteTest : public ConnectedTest {};

TEST_F(WriteTest, LandsInTheTargetsMemoryAndNowhereElse) {
  Memory from(here(), bytes("0123456789")), to(there(), bytes("aaaaaaaaaaaaaaaa"));
  expect_ok(active_->write(1, {from.segment(2, 5)}, to, 4));
  settle();
  EXPECT_EQ(to.text(16), "aaaa23456aaaaaaa");
  const auto done = active_->next_send();
  ASSERT_TRUE(done);
  EXPECT_EQ(done->opcode, CompletionOpcode::kWrite);
  EXPECT_EQ(done->length, 5u);
  EXPECT_EQ(passive_->recvs(), "");
}

TEST_F(WriteTest, GathersFromManySegments) {
  const auto content = pattern(4000, 5);
  Memory from(here(), content), to(there(), 4000);
  expect_ok(active_->write(1, {from.segment(0, 1000), from.segment(1000, 1), from.segment(1001, 2999)}, to));
  settle();
  EXPECT_TRUE(to.content() == content);
}

TEST_F(WriteTest, MayCoverTheRegionToItsLastByte) {
  Memory from(here(), bytes("xy")), to(there(), 10);
  expect_ok(active_->write(1, {from.all()}, to, 8));
  expect_ok(active_->write(2, {from.all()}, to, 0));
  settle();
  EXPECT_EQ(active_->sends(), "1:ok 2:ok");
}

TEST_F(WriteTest, AnEmptyWriteNeedsNoKeyAndIsNoNote) {
  hca::SendRequest request;
  request.opcode = hca::SendOpcode::kWrite;
  request.flags = hca::kSignaled;
  for (std::uint64_t i = 0; i < 3; ++i) {
    request.wr_id = i;
    request.rkey = i == 0 ? 0 : 0xbad0'0000;
    request.remote_address = i << 62;
    expect_ok(active_->qp().post_send(request));
  }
  settle();
  EXPECT_EQ(active_->sends(), "0:ok 1:ok 2:ok");
}

TEST_F(WriteTest, WritesAndASendKeepTheirOrder) {
  Memory from(here(), bytes("abcd")), to(there(), 8), message(there(), 8);
  expect_ok(passive_->recv(9, {message.all()}));
  expect_ok(active_->write(1, {from.segment(0, 2)}, to, 0));
  expect_ok(active_->write(2, {from.segment(2, 2)}, to, 1));
  expect_ok(active_->send(3, {from.all()}));
  settle();
  EXPECT_EQ(to.text(3), "acd");
  EXPECT_EQ(passive_->recvs(), "9:ok");
  EXPECT_EQ(active_->sends(), "1:ok 2:ok 3:ok");
}

TEST_F(WriteTest, LongWritesArriveWholeInPieces) {
  use({.seed = 3, .capacity = 5000, .max_per_send = 1700, .max_chunk = 600, .random_chunks = true});
  const auto content = pattern(200000, 6);
  Memory from(here(), content), to(there(), 200000);
  expect_ok(active_->write(1, {from.all()}, to));
  settle();
  EXPECT_EQ(active_->sends(), "1:ok");
  EXPECT_TRUE(to.content() == content);
}

}  // namespace
}  // namespace softdat::simnic::testing
