// SPDX-License-Identifier: BSD-2-Clause
// A key directory whose QP entries are suspended while a live capture runs.
#include "simnic/direct/key_directory.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace softdat::simnic::direct {
namespace {

class SuspendedKeyDirectory : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!key_directory_.is_open()) GTEST_SKIP() << "no memfd for a key directory";
  }
  std::uint64_t open_for(std::uint32_t qp_entry) const {
    return key_directory_.layout().qp_entries[qp_entry].open_for.load();
  }

  KeyDirectory key_directory_;
};

TEST_F(SuspendedKeyDirectory, ClosesAllQpEntriesAndOpensThemAgain) {
  const auto first = key_directory_.take_qp_entry(1);
  const auto second = key_directory_.take_qp_entry(1);
  ASSERT_TRUE(first && second);
  key_directory_.open_qp_entry(*first, 7);
  key_directory_.open_qp_entry(*second, 8);
  key_directory_.suspend();
  EXPECT_EQ(open_for(*first), 0u);
  EXPECT_EQ(open_for(*second), 0u);
  key_directory_.suspend();  // a second time changes nothing
  key_directory_.resume();
  EXPECT_EQ(open_for(*first), 7u);
  EXPECT_EQ(open_for(*second), 8u);
  key_directory_.resume();
  EXPECT_EQ(open_for(*first), 7u);
}

TEST_F(SuspendedKeyDirectory, OpensNoQpEntryOfAConnectionThatHasEnded) {
  const auto qp_entry = key_directory_.take_qp_entry(1);
  ASSERT_TRUE(qp_entry);
  key_directory_.open_qp_entry(*qp_entry, 7);
  key_directory_.suspend();
  key_directory_.close_qp_entry(*qp_entry);
  key_directory_.resume();
  EXPECT_EQ(open_for(*qp_entry), 0u);
}

TEST_F(SuspendedKeyDirectory, OpensTheQpEntryOfAConnectionThatBeganMeanwhileAtItsEndOnly) {
  key_directory_.suspend();
  const auto qp_entry = key_directory_.take_qp_entry(1);
  ASSERT_TRUE(qp_entry);
  key_directory_.open_qp_entry(*qp_entry, 9);
  EXPECT_EQ(open_for(*qp_entry), 0u);
  key_directory_.resume();
  EXPECT_EQ(open_for(*qp_entry), 9u);
}

}  // namespace
}  // namespace softdat::simnic::direct
