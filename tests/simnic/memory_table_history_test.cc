// SPDX-License-Identifier: BSD-2-Clause
// What the table tells of keys that open nothing.
#include <gtest/gtest.h>

#include "base/call.h"
#include "simnic/memory_table.h"
#include "simnic/window_state.h"

namespace softdat::simnic {
namespace {

using hca::Rule;

class MemoryTableHistory : public ::testing::Test {
 protected:
  std::uint32_t insert(std::uint64_t address, std::uint64_t length, hca::AccessMask access = hca::kRemoteWrite) {
    return table_.insert({.address = address, .length = length, .access = access, .domain = 1}).value();
  }
  hca::Failure explain(std::uint32_t key, std::uint64_t address = 1000, std::uint64_t length = 64,
                       hca::AccessMask right = hca::kRemoteWrite, std::uint32_t domain = 1) {
    hca::Failure failure;
    table_.explain(key, address, length, right, {domain}, failure);
    return failure;
  }
  std::uint32_t bind(std::uint32_t region) {
    std::uint32_t key = 0;
    table_.reserve({.region = region,
                    .address = 1000,
                    .length = 32,
                    .access = hca::kRemoteWrite,
                    .is_zero_based = false,
                    .domain = 1,
                    .stream = 0,
                    .note = 0,
                    .window = &window_},
                   key);
    return key;
  }

  MemoryTable table_{7};
  WindowState& window_ = *new WindowState(1, hca::WindowScope::kDomain, 0);
  void TearDown() override { window_.release(); }
};

TEST_F(MemoryTableHistory, TheNextKeyOfASlotWasNeverIssuedAndItsNeighbourIsNamed) {
  const std::uint32_t key = insert(1000, 64);
  const hca::Failure failure = explain(key + 1, 1000, 65);
  EXPECT_EQ(failure.rule, Rule::kKeyNeverIssued);
  EXPECT_EQ(failure.key, key + 1);
  EXPECT_EQ(failure.length, 65u);
  EXPECT_EQ(failure.region.key, key);
  EXPECT_EQ(failure.region.address, 1000u);
  EXPECT_EQ(failure.region.length, 64u);
}

TEST_F(MemoryTableHistory, AKeyOfASlotThatNobodyUsedWasNeverIssued) {
  insert(1000, 64);
  EXPECT_EQ(explain(0).rule, Rule::kKeyNeverIssued);
  EXPECT_EQ(explain(0x00ffff00).rule, Rule::kKeyNeverIssued);
  EXPECT_EQ(explain(0x00ffff00).region.key, 0u);
}

TEST_F(MemoryTableHistory, NoKeyForMemoryWithoutARemoteRightNamesTheRegion) {
  const std::uint32_t key = insert(1000, 64, hca::kLocalWrite);
  EXPECT_EQ(explain(0).rule, Rule::kMissingRight);
  EXPECT_EQ(explain(0).region.key, key);
  EXPECT_EQ(explain(0, 5000).rule, Rule::kKeyNeverIssued);
}

TEST_F(MemoryTableHistory, AKeyWhoseBytesAreTurnedRoundNamesTheRightOne) {
  const std::uint32_t key = insert(1000, 64);
  EXPECT_EQ(explain(__builtin_bswap32(key)).region.key, key);
}

TEST_F(MemoryTableHistory, AFreedKeyTellsWhatItWas) {
  const std::uint32_t key = insert(1000, 64);
  table_.remove(key);
  const hca::Failure failure = explain(key);
  EXPECT_EQ(failure.rule, Rule::kKeyFreed);
  EXPECT_EQ(failure.region.key, key);
  EXPECT_EQ(failure.region.length, 64u);
}

TEST_F(MemoryTableHistory, AnEarlierKeyOfASlotThatIsUsedAgainWasFreed) {
  const std::uint32_t key = insert(1000, 64);
  table_.remove(key);
  for (std::size_t i = 0; i <= KeySlots::kRestingSlots; ++i) table_.remove(insert(5000, 8));
  EXPECT_EQ(explain(key).rule, Rule::kKeyFreed);
  EXPECT_EQ(explain(key).region.key, 0u) << "what it was is forgotten";
}

TEST_F(MemoryTableHistory, EachFaultOfALiveKeyIsToldApart) {
  const std::uint32_t key = insert(1000, 64, hca::kRemoteRead);
  EXPECT_EQ(explain(key, 1000, 65, hca::kRemoteRead).rule, Rule::kOutOfRange);
  EXPECT_EQ(explain(key, 1000, 64, hca::kRemoteWrite).rule, Rule::kMissingRight);
  EXPECT_EQ(explain(key, 1000, 64, hca::kRemoteRead, 2).rule, Rule::kOtherDomain);
  EXPECT_EQ(explain(key, ~std::uint64_t{0}, 64, hca::kRemoteRead).rule, Rule::kRangeWraps);
  EXPECT_EQ(explain(key, 1000, 64, hca::kRemoteRead).rule, Rule::kMemoryGone);
}

TEST_F(MemoryTableHistory, AWindowsKeySaysHowItEnded) {
  const std::uint32_t region = insert(1000, 64, hca::kRemoteWrite | hca::kLocalWrite);
  const std::uint32_t first = bind(region);
  EXPECT_EQ(explain(first).rule, Rule::kKeyNotOpen);
  ASSERT_TRUE(table_.open(first));
  EXPECT_TRUE(explain(first, 1000, 33).region.is_window);
  table_.remove(first, KeyEnd::kRebound);
  EXPECT_EQ(explain(first).rule, Rule::kKeyRebound);
  const std::uint32_t second = bind(region);
  ASSERT_TRUE(table_.open(second));
  window_.set_key(second);
  EXPECT_EQ(table_.invalidate(second, {1}), AccessError::kNone);
  EXPECT_EQ(explain(second).rule, Rule::kKeyInvalidated);
}

TEST_F(MemoryTableHistory, RemembersWhichCallRegistered) {
  const int place = 0;
  std::uint32_t key = 0;
  {
    const base::Call call("dat_lmr_create", &place);
    key = insert(1000, 64);
  }
  EXPECT_EQ(explain(key).region.registered, &place);
  EXPECT_EQ(explain(insert(2000, 64), 2000).region.registered, nullptr);
}

}  // namespace
}  // namespace softdat::simnic
