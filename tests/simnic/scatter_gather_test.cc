// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/scatter_gather.h"

#include <gtest/gtest.h>

namespace softdat::simnic {
namespace {

class ScatterGatherTest : public ::testing::Test {
 protected:
  hca::Segment segment(std::uint64_t address, std::uint32_t length) { return {address, length, key_}; }
  // The slices as "address+length" words.
  std::string resolved(std::span<const hca::Segment> segments, std::uint64_t offset, std::uint64_t length) {
    transport::SliceList slices;
    const AccessError fault = resolve(memory_, segments, 0, offset, length, slices);
    if (fault != AccessError::kNone) return "fault";
    std::string words;
    for (const auto& slice : slices.slices()) {
      words += std::to_string(reinterpret_cast<std::uintptr_t>(slice.data)) + "+" + std::to_string(slice.length) + " ";
    }
    return words;
  }

  MemoryTable table_{0};
  const std::uint32_t key_ = *table_.insert({.address = 1000, .length = 9000, .access = 0, .domain = 1});
  const MemoryView memory_{table_, {1}};
};

TEST_F(ScatterGatherTest, CutsThePartThatIsAskedFor) {
  const std::vector<hca::Segment> segments{segment(1000, 10), segment(5000, 0), segment(2000, 20), segment(3000, 30)};
  EXPECT_EQ(resolved(segments, 0, 60), "1000+10 2000+20 3000+30 ");
  EXPECT_EQ(resolved(segments, 9, 2), "1009+1 2000+1 ");
  EXPECT_EQ(resolved(segments, 10, 20), "2000+20 ");
  EXPECT_EQ(resolved(segments, 29, 100), "2019+1 3000+30 ");
  EXPECT_EQ(resolved(segments, 59, 1), "3029+1 ");
  EXPECT_EQ(resolved(segments, 60, 1), "");
  EXPECT_EQ(resolved(segments, 5, 0), "");
  EXPECT_EQ(resolved({}, 0, 5), "");
}

TEST_F(ScatterGatherTest, ASegmentThatIsTouchedIsCheckedWhole) {
  const std::vector<hca::Segment> segments{segment(1000, 10), segment(9999, 2)};
  EXPECT_EQ(resolved(segments, 0, 10), "1000+10 ");
  EXPECT_EQ(resolved(segments, 0, 11), "fault");
  EXPECT_EQ(check_segments(memory_, segments, 0), AccessError::kOutOfRange);
  EXPECT_EQ(check_segments(memory_, std::span(segments).first(1), hca::kLocalWrite), AccessError::kMissingRight);
}

TEST_F(ScatterGatherTest, WhatThePosterFoundHoldsUntilAKeyGoes) {
  const std::vector<hca::Segment> segments{segment(2000, 20)};
  const std::uint32_t other = *table_.insert({.address = 0, .length = 1, .access = 0, .domain = 1});
  ResolvedSegment found;
  ASSERT_EQ(check_segments(memory_, segments, 0, found), AccessError::kNone);
  EXPECT_TRUE(still_holds(memory_, found));
  transport::SliceList slices;
  ASSERT_EQ(resolve(memory_, found, segments, 0, 15, 100, slices), AccessError::kNone);
  ASSERT_EQ(slices.slices().size(), 1u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(slices.slices()[0].data), 2015u);
  EXPECT_EQ(slices.slices()[0].length, 5u);
  table_.remove(other);
  EXPECT_FALSE(still_holds(memory_, found));
  slices.clear();
  EXPECT_EQ(resolve(memory_, found, segments, 0, 15, 100, slices), AccessError::kNone);
  EXPECT_EQ(slices.slices().size(), 1u);
  table_.remove(key_);
  EXPECT_EQ(resolve(memory_, found, segments, 0, 15, 100, slices), AccessError::kBadKey);
}

TEST_F(ScatterGatherTest, NothingIsRememberedOfSeveralSegmentsOrABadOne) {
  const std::vector<hca::Segment> segments{segment(1000, 10), segment(5000, 10), segment(9999, 2)};
  ResolvedSegment found;
  EXPECT_EQ(check_segments(memory_, std::span(segments).first(2), 0, found), AccessError::kNone);
  EXPECT_FALSE(still_holds(memory_, found));
  EXPECT_EQ(check_segments(memory_, std::span(segments).last(1), 0, found), AccessError::kOutOfRange);
  EXPECT_FALSE(still_holds(memory_, found));
}

TEST_F(ScatterGatherTest, AFullListCoversLess) {
  const std::vector<hca::Segment> segments(transport::SliceList::kCapacity + 5, segment(1000, 1));
  transport::SliceList slices;
  EXPECT_EQ(resolve(memory_, segments, 0, 0, 100, slices), AccessError::kNone);
  EXPECT_EQ(slices.slices().size(), transport::SliceList::kCapacity);
}

}  // namespace
}  // namespace softdat::simnic
