// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/staged_completions.h"

#include <gtest/gtest.h>

#include <array>

namespace softdat::verbs {
namespace {

hca::Completion numbered(std::uint64_t number) {
  hca::Completion completion{};
  completion.wr_id = number;
  return completion;
}

TEST(StagedCompletions, AreTakenOldestFirst) {
  StagedCompletions staged(4);
  for (std::uint64_t i = 1; i <= 3; ++i) EXPECT_TRUE(staged.push(numbered(i)));
  std::array<hca::Completion, 2> out{};
  EXPECT_EQ(staged.pop(out), 2u);
  EXPECT_EQ(out[0].wr_id, 1u);
  EXPECT_EQ(out[1].wr_id, 2u);
  EXPECT_EQ(staged.pop(out), 1u);
  EXPECT_EQ(out[0].wr_id, 3u);
}

TEST(StagedCompletions, OneTooManyIsLost) {
  StagedCompletions staged(2);
  EXPECT_TRUE(staged.push(numbered(0)));
  EXPECT_TRUE(staged.push(numbered(0)));
  EXPECT_FALSE(staged.push(numbered(0)));
  EXPECT_EQ(staged.size(), staged.capacity());
}

TEST(StagedCompletions, KeepTheirOrderInLargerRoom) {
  StagedCompletions staged(2), room(4);
  EXPECT_TRUE(staged.push(numbered(1)));
  EXPECT_TRUE(staged.push(numbered(2)));
  staged.swap_room(room);
  EXPECT_TRUE(room.empty());
  EXPECT_EQ(staged.capacity(), 4u);
  EXPECT_TRUE(staged.push(numbered(3)));
  std::array<hca::Completion, 3> out{};
  EXPECT_EQ(staged.pop(out), 3u);
  EXPECT_EQ(out[0].wr_id, 1u);
  EXPECT_EQ(out[2].wr_id, 3u);
}

}  // namespace
}  // namespace softdat::verbs
