// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/poll_leader.h"

#include <gtest/gtest.h>

#include <array>

namespace softdat::simnic::testing {
namespace {

class PollLeaderTest : public ::testing::Test {
 protected:
  bool leads(int queue) { return leader_.leads(&queues_[static_cast<std::size_t>(queue)]); }

  PollLeader leader_;
  std::array<char, 8> queues_{};
};

TEST_F(PollLeaderTest, AQueueThatIsPolledAloneLooksInEveryPoll) {
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(leads(3));
}

TEST_F(PollLeaderTest, OneOfManyQueuesThatArePolledInTurnLooksInEachRound) {
  for (int round = 0; round < 100; ++round) {
    int looks = 0;
    for (int queue = 0; queue < 8; ++queue) looks += leads(queue) ? 1 : 0;
    EXPECT_EQ(looks, 1) << "round " << round;
  }
}

TEST_F(PollLeaderTest, AQueueThatIsPolledTwiceWithoutTheLeaderTakesItsPlace) {
  EXPECT_TRUE(leads(0));
  EXPECT_FALSE(leads(1));
  EXPECT_FALSE(leads(2));
  EXPECT_TRUE(leads(1));
  EXPECT_TRUE(leads(1));
  EXPECT_FALSE(leads(0));
}

// As a program does whose events of connections, then a completion of a send, and from then on receives matter.
TEST_F(PollLeaderTest, AQueueLooksThoughTheLeaderAndTheOneThatWaitsAreNotPolledAnyMore) {
  EXPECT_TRUE(leads(0));
  EXPECT_FALSE(leads(1));
  unsigned passed = 0;
  while (!leads(2)) ASSERT_LE(++passed, PollLeader::kMostPassed);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(leads(2));
}

TEST_F(PollLeaderTest, NoQueueWaitsForMoreThanOneRoundOfTheOthers) {
  EXPECT_TRUE(leads(0));
  for (int queue = 1; queue < 8; ++queue) EXPECT_FALSE(leads(queue));
  int looks = 0;
  for (int queue = 1; queue < 8; ++queue) looks += leads(queue) ? 1 : 0;
  EXPECT_EQ(looks, 1);
}

}  // namespace
}  // namespace softdat::simnic::testing
