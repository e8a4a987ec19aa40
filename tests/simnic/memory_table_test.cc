// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/memory_table.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <thread>
#include <vector>

namespace softdat::simnic {
namespace {

constexpr std::uint64_t kMax = ~std::uint64_t{0};

class MemoryTableTest : public ::testing::Test {
 protected:
  std::uint32_t insert(std::uint64_t address, std::uint64_t length, hca::AccessMask access = 0,
                       std::uint32_t domain = 1) {
    return table_.insert({.address = address, .length = length, .access = access, .domain = domain}).value();
  }
  AccessError check(std::uint32_t key, std::uint64_t address, std::uint64_t length, hca::AccessMask rights = 0,
                    std::uint32_t domain = 1) {
    return table_.check(key, address, length, rights, {domain});
  }

  MemoryTable table_{0};
};

TEST_F(MemoryTableTest, OpensExactlyTheRangeThatWasRegistered) {
  const auto key = insert(1000, 100);
  EXPECT_EQ(check(key, 1000, 100), AccessError::kNone);
  EXPECT_EQ(check(key, 1099, 1), AccessError::kNone);
  EXPECT_EQ(check(key, 999, 1), AccessError::kOutOfRange);
  EXPECT_EQ(check(key, 1100, 1), AccessError::kOutOfRange);
  EXPECT_EQ(check(key, 1000, 101), AccessError::kOutOfRange);
  EXPECT_EQ(check(key, 1050, 51), AccessError::kOutOfRange);
}

TEST_F(MemoryTableTest, NoLengthOverflowsItsWayIn) {
  const auto key = insert(1000, 100);
  EXPECT_EQ(check(key, 1000, kMax), AccessError::kWraps);
  EXPECT_EQ(check(key, 1001, kMax), AccessError::kWraps);
  EXPECT_EQ(check(key, kMax, 2), AccessError::kWraps);
  EXPECT_EQ(check(key, kMax, 1000 + 100 + 1), AccessError::kWraps);
  EXPECT_EQ(check(key, 0, kMax), AccessError::kOutOfRange);
  EXPECT_EQ(check(key, kMax, 1), AccessError::kWraps);
}

TEST_F(MemoryTableTest, ARegionMayEndWhereTheAddressSpaceEnds) {
  const auto key = insert(kMax - 99, 99);
  EXPECT_EQ(check(key, kMax - 99, 99), AccessError::kNone);
  EXPECT_EQ(check(key, kMax - 1, 1), AccessError::kNone);
  EXPECT_EQ(check(key, kMax - 99, 100), AccessError::kWraps);
}

TEST_F(MemoryTableTest, EveryBitOfAKeyCounts) {
  const auto key = insert(1000, 100);
  for (int bit = 0; bit < 32; ++bit) {
    EXPECT_EQ(check(key ^ (1u << bit), 1000, 1), AccessError::kBadKey) << bit;
  }
  EXPECT_EQ(check(0, 1000, 1), AccessError::kBadKey);
  EXPECT_EQ(check(0xffff'ffff, 1000, 1), AccessError::kBadKey);
}

TEST_F(MemoryTableTest, AllRightsAskedForMustBeGranted) {
  const auto key = insert(0, 10, hca::kLocalWrite | hca::kRemoteRead);
  EXPECT_EQ(check(key, 0, 10, 0), AccessError::kNone);
  EXPECT_EQ(check(key, 0, 10, hca::kRemoteRead), AccessError::kNone);
  EXPECT_EQ(check(key, 0, 10, hca::kRemoteWrite), AccessError::kMissingRight);
  EXPECT_EQ(check(key, 0, 10, hca::kRemoteRead | hca::kRemoteWrite), AccessError::kMissingRight);
}

TEST_F(MemoryTableTest, AnotherDomainSeesNothing) {
  const auto key = insert(0, 10, hca::kRemoteRead, 7);
  EXPECT_EQ(check(key, 0, 10, hca::kRemoteRead, 7), AccessError::kNone);
  EXPECT_EQ(check(key, 0, 10, hca::kRemoteRead, 8), AccessError::kWrongDomain);
}

TEST_F(MemoryTableTest, AnEmptyRangeNeedsNoKey) {
  EXPECT_EQ(check(0, 0, 0), AccessError::kNone);
  EXPECT_EQ(check(0xdead, kMax, 0, hca::kRemoteWrite), AccessError::kNone);
}

TEST_F(MemoryTableTest, ARemovedKeyNeverOpensAgainWhileItsSlotRests) {
  const auto old = insert(0, 10);
  table_.remove(old);
  for (std::size_t i = 0; i < KeySlots::kRestingSlots * 3; ++i) {
    EXPECT_EQ(check(old, 0, 1), AccessError::kBadKey);
    table_.remove(insert(0, 10));
  }
}

TEST_F(MemoryTableTest, SlotsAreReusedOldestFirstUnderAnotherTag) {
  std::vector<std::uint32_t> freed;
  for (std::size_t i = 0; i <= KeySlots::kRestingSlots; ++i) freed.push_back(insert(i, 1));
  for (const auto key : freed) table_.remove(key);
  const auto next = insert(0, 1);
  EXPECT_EQ(next >> 8, freed[0] >> 8);
  EXPECT_NE(next, freed[0]);
  table_.remove(next);
  EXPECT_EQ(insert(0, 1) >> 8, freed[1] >> 8);
}

TEST_F(MemoryTableTest, ATagTakesEveryValueBeforeItComesBack) {
  std::set<std::uint32_t> seen;
  std::vector<std::uint32_t> wheel;
  for (std::size_t i = 0; i <= KeySlots::kRestingSlots; ++i) wheel.push_back(insert(0, 1));
  for (const auto key : wheel) table_.remove(key);
  const std::uint32_t index = wheel[0] >> 8;
  seen.insert(wheel[0]);
  while (seen.size() < 256) {
    const auto key = insert(0, 1);
    if (key >> 8 == index) {
      EXPECT_TRUE(seen.insert(key).second) << "a tag came back early";
    }
    table_.remove(key);
  }
}

TEST_F(MemoryTableTest, AFullTableSaysSo) {
  std::vector<std::uint32_t> keys;
  for (std::uint32_t i = 1; i < MemoryTable::kMaxRegions; ++i) keys.push_back(insert(i, 1));
  EXPECT_FALSE(table_.insert({.address = 0, .length = 1, .access = 0, .domain = 1}));
  EXPECT_EQ(std::set<std::uint32_t>(keys.begin(), keys.end()).size(), keys.size());
  for (std::size_t i = 0; i < keys.size(); i += 100'000) EXPECT_EQ(check(keys[i], i + 1, 1), AccessError::kNone);
  table_.remove(keys[17]);
  EXPECT_TRUE(table_.insert({.address = 0, .length = 1, .access = 0, .domain = 1}));
}

TEST_F(MemoryTableTest, RandomKeysOpenNothing) {
  std::mt19937 random(1);
  std::set<std::uint32_t> keys;
  for (int i = 0; i < 100; ++i) keys.insert(insert(0, kMax));
  for (int i = 0; i < 1'000'000; ++i) {
    const std::uint32_t guess = random();
    if (!keys.contains(guess)) {
      ASSERT_EQ(check(guess, 0, 1), AccessError::kBadKey) << guess;
    }
  }
}

TEST_F(MemoryTableTest, MayBeReadWhileItGrows) {
  const auto key = insert(1000, 100);
  std::jthread writer([&] {
    for (int i = 0; i < 5000; ++i) insert(static_cast<std::uint64_t>(i), 1);
  });
  for (int i = 0; i < 50'000; ++i) ASSERT_EQ(check(key, 1000, 100), AccessError::kNone);
}

}  // namespace
}  // namespace softdat::simnic
