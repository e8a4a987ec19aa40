// SPDX-License-Identifier: BSD-2-Clause
// What the cache says must be what a look-up would say.
#include "simnic/region_cache.h"

#include <gtest/gtest.h>

#include <limits>

namespace softdat::simnic {
namespace {

class RegionCacheTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kDomain = 1;
  std::uint32_t register_region(std::uint64_t address, std::uint64_t length, std::uint32_t domain = kDomain) {
    return *table_.insert({.address = address, .length = length, .access = hca::kLocalWrite, .domain = domain});
  }
  AccessError check(std::uint32_t key, std::uint64_t address, std::uint32_t length) {
    const hca::Segment segment{address, length, key};
    found_ = {};
    return cache_.check(memory_, {&segment, 1}, hca::kLocalWrite, found_);
  }
  std::uintptr_t place() const { return reinterpret_cast<std::uintptr_t>(found_.place); }

  MemoryTable table_{0};
  const MemoryView memory_{table_, {kDomain}};
  const std::uint32_t key_ = register_region(1000, 100);
  RegionCache cache_;
  ResolvedSegment found_;
};

TEST_F(RegionCacheTest, FindsWhatALookUpFinds) {
  for (int look = 0; look < 2; ++look) {
    EXPECT_EQ(check(key_, 1000, 100), AccessError::kNone);
    EXPECT_EQ(place(), 1000u);
    EXPECT_TRUE(still_holds(memory_, found_));
    EXPECT_EQ(check(key_, 1099, 1), AccessError::kNone);
    EXPECT_EQ(place(), 1099u);
  }
}

TEST_F(RegionCacheTest, RefusesWhatALookUpRefuses) {
  ASSERT_EQ(check(key_, 1000, 100), AccessError::kNone);
  EXPECT_EQ(check(key_, 999, 1), AccessError::kOutOfRange);
  EXPECT_EQ(check(key_, 1000, 101), AccessError::kOutOfRange);
  EXPECT_EQ(check(key_, 1100, 1), AccessError::kOutOfRange);
  EXPECT_EQ(check(key_, std::numeric_limits<std::uint64_t>::max(), 2), AccessError::kWraps);
  EXPECT_EQ(check(key_ + 1, 1000, 1), AccessError::kBadKey);
  EXPECT_EQ(check(register_region(1000, 100, kDomain + 1), 1000, 1), AccessError::kWrongDomain);
  EXPECT_EQ(check(key_, 1000, 100), AccessError::kNone);
}

TEST_F(RegionCacheTest, EmptySegmentIsNotChecked) {
  EXPECT_EQ(check(0, 5, 0), AccessError::kNone);
  ASSERT_EQ(check(key_, 1000, 100), AccessError::kNone);
  EXPECT_EQ(check(key_, 5, 0), AccessError::kNone);
  EXPECT_EQ(check(key_, 1050, 0), AccessError::kNone);
}

TEST_F(RegionCacheTest, ForgetsTheRegionWhenItsKeyIsRemoved) {
  ASSERT_EQ(check(key_, 1000, 100), AccessError::kNone);
  table_.remove(key_);
  EXPECT_EQ(check(key_, 1000, 100), AccessError::kBadKey);
}

// The slot is used again, for another region, under another key.
TEST_F(RegionCacheTest, FollowsTheProgramToAnotherRegion) {
  ASSERT_EQ(check(key_, 1000, 100), AccessError::kNone);
  const std::uint32_t other = register_region(5000, 10);
  EXPECT_EQ(check(other, 5005, 5), AccessError::kNone);
  EXPECT_EQ(place(), 5005u);
  table_.remove(key_);
  EXPECT_EQ(check(other, 5005, 5), AccessError::kNone);
  EXPECT_TRUE(still_holds(memory_, found_));
  EXPECT_EQ(check(other, 5006, 5), AccessError::kOutOfRange);
}

TEST_F(RegionCacheTest, SeveralSegmentsAreCheckedEach) {
  const hca::Segment segments[] = {{1000, 10, key_}, {1090, 11, key_}};
  ResolvedSegment found;
  EXPECT_EQ(cache_.check(memory_, segments, hca::kLocalWrite, found), AccessError::kOutOfRange);
  EXPECT_EQ(cache_.check(memory_, std::span(segments).first(1), hca::kLocalWrite, found), AccessError::kNone);
}

}  // namespace
}  // namespace softdat::simnic
