// SPDX-License-Identifier: BSD-2-Clause
// A queue pair whose place another one takes, and what it has told before.
#include <gtest/gtest.h>

#include "tests/verbs/stand.h"

namespace softdat::verbs {
namespace {

bool is_refused(const hca::Outcome& outcome) {
  return !outcome && outcome.reason() == hca::Error::kInvalidState;
}

TEST(RetireTest, OneWithoutReceivesIsOfNoUseAfterwards) {
  Stand stand;
  const auto queue = stand.make_cq(8);
  const auto queue_pair = stand.make_qp(*queue, 4);
  ASSERT_TRUE(queue_pair->retire());
  EXPECT_TRUE(is_refused(queue_pair->post_recv({.wr_id = 1, .local = {}})));
  EXPECT_TRUE(is_refused(queue_pair->reset()));
  EXPECT_TRUE(is_refused(queue_pair->retire()));
}

TEST(RetireTest, OneWithReceivesOrAConnectionGoesOn) {
  Stand stand;
  Hearer hearer;
  const auto queue = stand.make_cq(8);
  const auto queue_pair = stand.make_qp(*queue, 4, &hearer);
  ASSERT_TRUE(queue_pair->post_recv({.wr_id = 1, .local = {}}));
  EXPECT_TRUE(is_refused(queue_pair->retire()));
  EXPECT_TRUE(queue_pair->post_recv({.wr_id = 2, .local = {}}));
  const auto connected = stand.make_qp(*queue, 4, &hearer);
  Stand::accept(*connected);
  EXPECT_EQ(hearer.await(1).size(), 1u);
  EXPECT_TRUE(is_refused(connected->retire()));
}

TEST(RetireTest, AllHasBeenToldWhenTheSinkHasHeardOfTheEnd) {
  Stand stand;
  Hearer hearer;
  const auto queue = stand.make_cq(8);
  const auto queue_pair = stand.make_qp(*queue, 4, &hearer);
  Stand::accept(*queue_pair);
  EXPECT_EQ(hearer.await(1).size(), 1u);
  EXPECT_TRUE(queue_pair->has_told_all());
  ASSERT_TRUE(queue_pair->disconnect(false));
  ASSERT_TRUE(queue_pair->reset());
  EXPECT_EQ(hearer.await(2).back(), hca::ConnectionEventType::kDisconnected);
  EXPECT_TRUE(queue_pair->has_told_all());
}

}  // namespace
}  // namespace softdat::verbs
