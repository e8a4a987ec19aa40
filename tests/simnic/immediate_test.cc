// SPDX-License-Identifier: BSD-2-Clause
// Writes with immediate data: what both sides hear, and that a receive missing in between costs
// nothing.
#include "tests/simnic/world.h"

namespace softdat::simnic::testing {
namespace {

class ImmediateTest : public ConnectedTest {};

TEST_F(ImmediateTest, WritesAndConsumesAReceiveThatTellsTheData) {
  Memory from(here(), bytes("payload")), to(there(), 16), unused(there(), bytes("untouched"));
  expect_ok(passive_->recv(5, {unused.all()}));
  expect_ok(active_->write_immediate(1, {from.all()}, to, 0xfeed'beef));
  settle();
  const auto sent = active_->next_send();
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->wr_id, 1u);
  EXPECT_EQ(sent->opcode, CompletionOpcode::kWriteWithImmediate);
  EXPECT_EQ(sent->length, 7u);
  const auto received = passive_->next_recv();
  ASSERT_TRUE(received);
  EXPECT_EQ(received->wr_id, 5u);
  EXPECT_EQ(received->opcode, CompletionOpcode::kRecvWriteImmediate);
  EXPECT_EQ(received->length, 7u);
  EXPECT_EQ(received->immediate, 0xfeed'beefu);
  EXPECT_FALSE(received->solicited);
  EXPECT_EQ(to.text(7), "payload");
  EXPECT_EQ(unused.text(9), "untouched");
}

TEST_F(ImmediateTest, NeedsNoBytesAndNoBuffer) {
  Memory to(there(), 1);
  expect_ok(passive_->recv(5, {}));
  expect_ok(active_->write_immediate(1, {}, to, 3));
  settle();
  EXPECT_EQ(active_->sends(), "1:ok");
  const auto received = passive_->next_recv();
  ASSERT_TRUE(received);
  EXPECT_EQ(received->length, 0u);
  EXPECT_EQ(received->immediate, 3u);
}

TEST_F(ImmediateTest, MayAskForAttention) {
  Memory to(there(), 1);
  expect_ok(passive_->recv(5, {}));
  expect_ok(active_->write_immediate(1, {}, to, 3, hca::kSignaled | hca::kSolicited));
  settle();
  const auto received = passive_->next_recv();
  ASSERT_TRUE(received);
  EXPECT_TRUE(received->solicited);
}

TEST_F(ImmediateTest, AReceiveOfAMessageCarriesNone) {
  Memory from(here(), bytes("x")), to(there(), 1);
  expect_ok(passive_->recv(5, {to.all()}));
  expect_ok(active_->send(1, {from.all()}));
  settle();
  const auto received = passive_->next_recv();
  ASSERT_TRUE(received);
  EXPECT_EQ(received->opcode, CompletionOpcode::kRecv);
  EXPECT_EQ(received->immediate, 0u);
}

TEST_F(ImmediateTest, WaitsForItsReceiveAndKeepsItsPlaceInTheOrder) {
  Memory from(here(), bytes("abcd")), to(there(), 4), message(there(), 4);
  expect_ok(active_->write_immediate(1, {from.segment(0, 2)}, to, 10));
  expect_ok(active_->write_immediate(2, {from.segment(2, 2)}, to, 20));
  expect_ok(active_->send(3, {from.all()}));
  settle();
  EXPECT_EQ(to.text(2), "ab");
  EXPECT_EQ(active_->sends(), "");
  for (std::uint64_t i = 0; i < 2; ++i) {
    expect_ok(passive_->recv(10 * (i + 1), {}));
    settle();
    const auto received = passive_->next_recv();
    ASSERT_TRUE(received);
    EXPECT_EQ(received->wr_id, received->immediate);
    EXPECT_EQ(received->length, 2u);
    EXPECT_EQ(received->opcode, CompletionOpcode::kRecvWriteImmediate);
  }
  EXPECT_EQ(to.text(2), "cd");
  expect_ok(passive_->recv(30, {message.all()}));
  settle();
  EXPECT_EQ(message.text(4), "abcd");
  EXPECT_EQ(active_->sends(), "1:ok 2:ok 3:ok");
}

TEST_F(ImmediateTest, AWriteThatWasCarriedOutIsNotRepeatedForItsImmediateData) {
  Memory from(here(), bytes("new")), to(there(), bytes("old"));
  expect_ok(active_->write_immediate(1, {from.all()}, to, 1));
  settle();
  EXPECT_EQ(to.text(3), "new");
  // Its memory may even be gone by the time the receive comes.
  from.deregister();
  expect_ok(passive_->recv(5, {}));
  settle();
  EXPECT_EQ(active_->sends(), "1:ok");
  EXPECT_EQ(passive_->recvs(), "5:ok");
}

TEST_F(ImmediateTest, ManyInPiecesOverANarrowChannel) {
  use({.seed = 3, .capacity = 700, .max_per_send = 90, .max_chunk = 40, .random_chunks = true, .items_per_turn = 2});
  const auto content = pattern(4800, 1);
  Memory from(here(), content), to(there(), 4800);
  for (std::uint64_t round = 0; round < 4; ++round) {
    for (std::uint64_t i = 0; i < 12; ++i) {
      expect_ok(active_->write_immediate(i, {from.segment(i * 400, 400)}, to, static_cast<std::uint32_t>(i)));
    }
    for (std::uint64_t i = 0; i < 12; ++i) {
      if (i % 3 == round % 3) settle();
      expect_ok(passive_->recv(i, {}));
    }
    settle();
    for (std::uint64_t i = 0; i < 12; ++i) {
      const auto received = passive_->next_recv();
      ASSERT_TRUE(received) << round << " " << i;
      EXPECT_EQ(received->immediate, i);
      EXPECT_EQ(received->length, 400u);
    }
    EXPECT_EQ(active_->sends(), "0:ok 1:ok 2:ok 3:ok 4:ok 5:ok 6:ok 7:ok 8:ok 9:ok 10:ok 11:ok");
  }
}

TEST_F(ImmediateTest, ARefusedWriteBringsNoImmediateData) {
  Memory from(here(), bytes("xx")), to(there(), std::vector<std::byte>(2), hca::kRemoteRead);
  expect_ok(passive_->recv(5, {}));
  expect_ok(active_->write_immediate(1, {from.all()}, to, 1));
  settle();
  EXPECT_EQ(active_->sends(), "1:remote-access");
  EXPECT_EQ(passive_->recvs(), "5:flushed");
}

TEST_F(ImmediateTest, WithoutWaitingAMissingReceiveEndsTheConnection) {
  use({}, RnrPolicy::kTerminate);
  Memory from(here(), bytes("xx")), to(there(), 2);
  expect_ok(active_->write_immediate(1, {from.all()}, to, 1));
  settle();
  EXPECT_EQ(active_->sends(), "1:rnr-retry-exceeded");
  EXPECT_EQ(active_->events(), "broken");
}

TEST_F(ImmediateTest, FlushesWholeWhateverHalfOfItIsUnderWay) {
  Memory from(here(), bytes("ab")), to(there(), 2);
  expect_ok(active_->write_immediate(1, {from.all()}, to, 1));
  expect_ok(active_->write_immediate(2, {from.all()}, to, 2));
  settle();
  expect_ok(active_->qp().disconnect(false));
  settle();
  EXPECT_EQ(active_->sends(), "1:flushed 2:flushed");
  EXPECT_EQ(active_->events(), "disconnected");
}

}  // namespace
}  // namespace softdat::simnic::testing
