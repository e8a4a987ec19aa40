// SPDX-License-Identifier: BSD-2-Clause
// A board whose gates are suspended while a live capture runs.
#include "simnic/direct/board.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace softdat::simnic::direct {
namespace {

class SuspendedBoard : public testing::Test {
 protected:
  void SetUp() override {
    if (!board_.is_open()) GTEST_SKIP() << "no memfd for a board";
  }
  std::uint64_t open_for(std::uint32_t gate) const { return board_.layout().gates[gate].open_for.load(); }

  Board board_;
};

TEST_F(SuspendedBoard, ClosesAllGatesAndOpensThemAgain) {
  const auto first = board_.take_gate(1);
  const auto second = board_.take_gate(1);
  ASSERT_TRUE(first && second);
  board_.open_gate(*first, 7);
  board_.open_gate(*second, 8);
  board_.suspend();
  EXPECT_EQ(open_for(*first), 0u);
  EXPECT_EQ(open_for(*second), 0u);
  board_.suspend();  // a second time changes nothing
  board_.resume();
  EXPECT_EQ(open_for(*first), 7u);
  EXPECT_EQ(open_for(*second), 8u);
  board_.resume();
  EXPECT_EQ(open_for(*first), 7u);
}

TEST_F(SuspendedBoard, OpensNoGateOfAConnectionThatHasEnded) {
  const auto gate = board_.take_gate(1);
  ASSERT_TRUE(gate);
  board_.open_gate(*gate, 7);
  board_.suspend();
  board_.close_gate(*gate);
  board_.resume();
  EXPECT_EQ(open_for(*gate), 0u);
}

TEST_F(SuspendedBoard, OpensTheGateOfAConnectionThatBeganMeanwhileAtItsEndOnly) {
  board_.suspend();
  const auto gate = board_.take_gate(1);
  ASSERT_TRUE(gate);
  board_.open_gate(*gate, 9);
  EXPECT_EQ(open_for(*gate), 0u);
  board_.resume();
  EXPECT_EQ(open_for(*gate), 9u);
}

}  // namespace
}  // namespace softdat::simnic::direct
