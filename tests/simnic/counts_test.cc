// SPDX-License-Identifier: BSD-2-Clause
// What queue pairs and completion queues count for people who look at them.
#include "hca/counters.h"
#include "tests/simnic/world.h"

namespace softdat::simnic::testing {
namespace {

class CountsTest : public ConnectedTest {
 protected:
  static hca::QueuePairCounts counts(const hca::QueuePair& qp) {
    return dynamic_cast<const hca::CountingQueuePair&>(qp).counts();
  }
  static std::uint64_t of(const hca::StatusCounts& counts, CompletionStatus status) {
    return counts[static_cast<std::size_t>(status)];
  }
};

TEST_F(CountsTest, HighWaterMarksOfQueues) {
  Memory from(here(), bytes("abc")), to(there(), 8);
  for (std::uint64_t i = 0; i < 3; ++i) expect_ok(passive_->recv(i, {to.segment(i, 1)}));
  for (std::uint64_t i = 0; i < 3; ++i) {
    expect_ok(active_->send(i, {from.segment(i, 1)}));
    settle();
  }
  EXPECT_EQ(passive_->recvs(), "0:ok 1:ok 2:ok");
  EXPECT_EQ(counts(passive_->qp()).recv_high_water, 3u);
  EXPECT_EQ(counts(active_->qp()).send_high_water, 1u);
  EXPECT_GE(counts(active_->qp()).send_capacity, 1u);
}

TEST_F(CountsTest, WaitsForAReceiveAndWhatTheyCost) {
  Memory from(here(), bytes("x")), to(there(), 1);
  expect_ok(active_->send(1, {from.all()}));
  settle();
  EXPECT_EQ(counts(passive_->qp()).rnr_waits, 1u);
  EXPECT_EQ(counts(active_->qp()).resends, 0u);
  expect_ok(passive_->recv(2, {to.all()}));
  settle();
  EXPECT_EQ(active_->sends(), "1:ok");
  EXPECT_EQ(counts(passive_->qp()).rnr_waits, 1u);
  EXPECT_EQ(counts(active_->qp()).resends, 1u);
}

TEST_F(CountsTest, FailuresByStatus) {
  Memory from(here(), bytes("too long")), to(there(), 4);
  expect_ok(passive_->recv(1, {to.all()}));
  expect_ok(passive_->recv(2, {to.all()}));
  expect_ok(active_->send(1, {from.all()}));
  expect_ok(active_->send(2, {from.all()}));
  settle();
  const hca::QueuePairCounts active = counts(active_->qp());
  const hca::QueuePairCounts passive = counts(passive_->qp());
  EXPECT_EQ(of(passive.failed_receives, CompletionStatus::kLocalLength), 1u);
  EXPECT_EQ(of(passive.failed_receives, CompletionStatus::kFlushed), 1u);
  EXPECT_EQ(of(active.failed_requests, CompletionStatus::kRemoteOperation), 1u);
  EXPECT_EQ(of(active.failed_requests, CompletionStatus::kFlushed), 1u);
  EXPECT_EQ(of(active.failed_requests, CompletionStatus::kSuccess), 0u);
}

}  // namespace
}  // namespace softdat::simnic::testing
