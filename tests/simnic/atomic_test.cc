// SPDX-License-Identifier: BSD-2-Clause
// Fetch-and-add and compare-and-swap over a connection.
#include "tests/simnic/world.h"

namespace softdat::simnic::testing {
namespace {

constexpr hca::AccessMask kAtomicRights = hca::kLocalWrite | hca::kRemoteAtomic;

std::vector<std::byte> words(std::initializer_list<std::uint64_t> values) {
  std::vector<std::byte> result(values.size() * sizeof(std::uint64_t));
  std::memcpy(result.data(), std::data(values), result.size());
  return result;
}

class AtomicTest : public ConnectedTest {
 protected:
  // Whatever the vector's own alignment: tests count on words at multiples of eight.
  void SetUp() override {
    ConnectedTest::SetUp();
    make_memory();
  }
  void TearDown() override {
    local_.reset();
    remote_.reset();
    ConnectedTest::TearDown();
  }
  void make_memory(hca::AccessMask rights = kAtomicRights) {
    local_ = std::make_unique<Memory>(here(), 64);
    remote_ = std::make_unique<Memory>(there(), words({100, 200}), rights);
  }

  std::unique_ptr<Memory> local_;
  std::unique_ptr<Memory> remote_;
};

TEST_F(AtomicTest, FetchAddAddsAndBringsTheOriginal) {
  expect_ok(active_->fetch_add(1, local_->segment(8, 8), *remote_, 8, 55));
  settle();
  const auto done = active_->next_send();
  ASSERT_TRUE(done);
  EXPECT_EQ(done->wr_id, 1u);
  EXPECT_EQ(done->opcode, CompletionOpcode::kFetchAdd);
  EXPECT_EQ(done->length, 8u);
  EXPECT_EQ(local_->word(8), 200u);
  EXPECT_EQ(remote_->word(8), 255u);
  EXPECT_EQ(remote_->word(0), 100u);
  EXPECT_EQ(passive_->recvs(), "");
}

TEST_F(AtomicTest, CompareSwapSwapsOnlyOnAMatchAndTellsTheOriginalEitherWay) {
  expect_ok(active_->compare_swap(1, local_->segment(0, 8), *remote_, 0, 100, 7));
  expect_ok(active_->compare_swap(2, local_->segment(8, 8), *remote_, 0, 100, 8));
  settle();
  EXPECT_EQ(active_->sends(), "1:ok 2:ok");
  EXPECT_EQ(local_->word(0), 100u);
  EXPECT_EQ(local_->word(8), 7u);
  EXPECT_EQ(remote_->word(0), 7u);
}

TEST_F(AtomicTest, TheOriginalMayBeScattered) {
  const Segments pieces{local_->segment(3, 5), local_->segment(20, 3)};
  expect_ok(active_->qp().post_send({.wr_id = 1,
                                     .opcode = hca::SendOpcode::kFetchAdd,
                                     .flags = hca::kSignaled,
                                     .rkey = remote_->key(),
                                     .remote_address = remote_->address(),
                                     .local = pieces,
                                     .operand = 1}));
  settle();
  EXPECT_EQ(active_->sends(), "1:ok");
  auto together = local_->part(3, 5);
  const auto rest = local_->part(20, 3);
  together.insert(together.end(), rest.begin(), rest.end());
  EXPECT_EQ(together, words({100}));
}

TEST_F(AtomicTest, CountAgainstTheLimitOfReadsAndKeepTheirOrderWithThem) {
  reconnect_with_ird(1);
  make_memory(kEverything);
  for (std::uint64_t i = 0; i < 6; ++i) {
    if (i % 2 == 0) {
      expect_ok(active_->fetch_add(i, local_->segment(i * 8, 8), *remote_, 0, 1));
    } else {
      expect_ok(active_->read(i, {local_->segment(i * 8, 8)}, *remote_));
    }
  }
  settle();
  EXPECT_EQ(active_->sends(), "0:ok 1:ok 2:ok 3:ok 4:ok 5:ok");
  for (std::uint64_t i = 0; i < 6; ++i) EXPECT_EQ(local_->word(i * 8), 100 + (i + 1) / 2) << i;
}

TEST_F(AtomicTest, WhatComesBehindOneFindsItDone) {
  Memory message(there(), 1);
  expect_ok(passive_->recv(9, {message.all()}));
  expect_ok(active_->fetch_add(1, local_->segment(0, 8), *remote_, 0, 1, 0));
  expect_ok(active_->send(2, {local_->segment(8, 1)}));
  while (!passive_->next_recv()) {
    world_->turn_here();
    world_->turn_there();
  }
  EXPECT_EQ(remote_->word(0), 101u);
}

TEST_F(AtomicTest, ThoseBehindASendThatWaitsAreCarriedOutOnceOnly) {
  Memory message(there(), 1);
  expect_ok(active_->send(1, {local_->segment(8, 1)}));
  for (std::uint64_t i = 2; i < 6; ++i) expect_ok(active_->fetch_add(i, local_->segment(0, 8), *remote_, 0, 1));
  settle();
  EXPECT_EQ(remote_->word(0), 100u);
  expect_ok(passive_->recv(9, {message.all()}));
  settle();
  EXPECT_EQ(active_->sends(), "1:ok 2:ok 3:ok 4:ok 5:ok");
  EXPECT_EQ(remote_->word(0), 104u);
}

TEST_F(AtomicTest, AWordThatIsNotAlignedIsRefusedAndLeftAlone) {
  expect_ok(active_->fetch_add(1, local_->segment(0, 8), *remote_, 4, 1));
  settle();
  EXPECT_EQ(active_->sends(), "1:remote-operation");
  EXPECT_EQ(active_->events(), "broken");
  EXPECT_EQ(remote_->content(), words({100, 200}));
}

TEST_F(AtomicTest, WithoutTheRightIsRefused) {
  make_memory(kEverything & ~hca::kRemoteAtomic);
  expect_ok(active_->compare_swap(1, local_->segment(0, 8), *remote_, 0, 100, 1));
  settle();
  EXPECT_EQ(active_->sends(), "1:remote-access");
  EXPECT_EQ(passive_->events(), "broken");
  EXPECT_EQ(remote_->word(0), 100u);
}

TEST_F(AtomicTest, BeyondTheRegionIsRefused) {
  expect_ok(active_->fetch_add(1, local_->segment(0, 8), *remote_, 16, 1));
  settle();
  EXPECT_EQ(active_->sends(), "1:remote-access");
}

TEST_F(AtomicTest, AKeyThatWasTakenAwayIsRefused) {
  remote_->deregister();
  expect_ok(active_->fetch_add(1, local_->segment(0, 8), *remote_, 0, 1));
  settle();
  EXPECT_EQ(active_->sends(), "1:remote-access");
  EXPECT_EQ(remote_->word(0), 100u);
}

TEST_F(AtomicTest, TakesEightBytesOfWritableMemoryAndNothingElse) {
  EXPECT_EQ(reason(active_->fetch_add(1, local_->segment(0, 7), *remote_, 0, 1)), hca::Error::kInvalidArgument);
  EXPECT_EQ(reason(active_->fetch_add(1, local_->segment(0, 9), *remote_, 0, 1)), hca::Error::kInvalidArgument);
  Memory constant(here(), words({1}), hca::kRemoteRead);
  EXPECT_EQ(reason(active_->fetch_add(1, constant.all(), *remote_, 0, 1)), hca::Error::kMissingRight);
  settle();
  EXPECT_EQ(active_->sends(), "");
  EXPECT_EQ(remote_->word(0), 100u);
}

TEST_F(AtomicTest, OneWhoseLocalMemoryGoesFailsInItsTurn) {
  Memory gone(here(), 8);
  expect_ok(active_->fetch_add(1, gone.all(), *remote_, 0, 1));
  gone.deregister();
  settle();
  EXPECT_EQ(active_->sends(), "1:local-protection");
}

TEST_F(AtomicTest, AGracefulDisconnectWaitsForItsAnswer) {
  expect_ok(active_->fetch_add(1, local_->segment(0, 8), *remote_, 0, 1));
  expect_ok(active_->qp().disconnect(true));
  settle();
  EXPECT_EQ(active_->sends(), "1:ok");
  EXPECT_EQ(active_->events(), "disconnected");
  EXPECT_EQ(remote_->word(0), 101u);
}

}  // namespace
}  // namespace softdat::simnic::testing
