// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/memory_table.h"

#include <gtest/gtest.h>

namespace softdat::verbs {
namespace {

constexpr std::uint32_t kDomain = 7;
constexpr MemoryGrant kGrant{
    .address = 1000, .length = 100, .access = hca::kLocalWrite, .domain = kDomain, .lkey = 5, .rkey = 6};

class MemoryTableTest : public testing::Test {
 protected:
  void SetUp() override { table_.insert(kGrant); }

  hca::Outcome check(hca::Segment segment, hca::AccessMask rights = 0, std::uint32_t domain = kDomain) {
    return table_.check({&segment, 1}, rights, domain, last_);
  }
  void expect_error(const hca::Outcome& outcome, hca::Error error) {
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.reason(), error);
  }

  MemoryTable table_;
  LastGrant last_;
};

TEST_F(MemoryTableTest, WholeRegionAndNoMore) {
  EXPECT_TRUE(check({1000, 100, 5}, hca::kLocalWrite).ok());
  EXPECT_TRUE(check({1099, 1, 5}).ok());
  EXPECT_TRUE(check({1100, 0, 5}).ok());
  expect_error(check({1099, 2, 5}), hca::Error::kOutOfRange);
  expect_error(check({999, 1, 5}), hca::Error::kOutOfRange);
  expect_error(check({~std::uint64_t{0}, 2, 5}), hca::Error::kOutOfRange);
}

TEST_F(MemoryTableTest, KeyDomainAndRightsCount) {
  expect_error(check({1000, 1, 6}), hca::Error::kBadKey);
  expect_error(check({1000, 1, 5}, 0, 8), hca::Error::kWrongDomain);
  expect_error(check({1000, 1, 5}, hca::kRemoteWrite), hca::Error::kMissingRight);
}

TEST_F(MemoryTableTest, WhatWasRememberedEndsWithTheRegion) {
  EXPECT_TRUE(check({1000, 1, 5}).ok());
  table_.remove(5);
  expect_error(check({1000, 1, 5}), hca::Error::kBadKey);
}

TEST_F(MemoryTableTest, EmptySegmentsAreNotLookedAt) {
  EXPECT_TRUE(check({0, 0, 99}, hca::kRemoteWrite, 8).ok());
}

TEST_F(MemoryTableTest, BoundWhileThereAreBinds) {
  EXPECT_FALSE(table_.is_bound(5));
  table_.retain(5);
  table_.retain(5);
  table_.release(5);
  EXPECT_TRUE(table_.is_bound(5));
  table_.release(5);
  EXPECT_FALSE(table_.is_bound(5));
}

TEST_F(MemoryTableTest, FoundByEitherKey) {
  EXPECT_EQ(table_.find(5)->rkey, 6u);
  EXPECT_EQ(table_.find_remote(6)->lkey, 5u);
  EXPECT_FALSE(table_.find(6).has_value());
  EXPECT_FALSE(table_.find_remote(5).has_value());
}

}  // namespace
}  // namespace softdat::verbs
