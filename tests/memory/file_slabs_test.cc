// SPDX-License-Identifier: BSD-2-Clause
#include "memory/file_slabs.h"

#include <gtest/gtest.h>

#include <mutex>

#include "base/lock_order.h"
#include "memory/lock_places.h"

namespace softdat::memory {
namespace {

constexpr std::uint64_t kPage = 4096;

AddressRange page_of_block(std::uint64_t block) {
  return {block * kSlabBytes + kPage, block * kSlabBytes + 2 * kPage};
}

class FileSlabsTest : public ::testing::Test {
 protected:
  FileSlabs slabs_;
  base::Mutex<locks::kArena> mutex_;
  const std::lock_guard<base::Mutex<locks::kArena>> lock_{mutex_};
};

TEST_F(FileSlabsTest, ARangeHasItsPlaceOnceItsBlockHasASlab) {
  EXPECT_FALSE(slabs_.find(page_of_block(7)).has_value());
  EXPECT_EQ(slabs_.offset_of(page_of_block(7)), kPage);
  EXPECT_EQ(slabs_.find(page_of_block(7)), kPage);
  EXPECT_EQ(slabs_.offset_of(page_of_block(3)), kSlabBytes + kPage);
  EXPECT_EQ(slabs_.offset_of(page_of_block(7)), kPage) << "it keeps its slab";
}

TEST_F(FileSlabsTest, AQuestionAssignsNothing) {
  for (std::uint64_t block = 1; block <= 2 * kSlabs; ++block)
    EXPECT_FALSE(slabs_.find(page_of_block(block)).has_value());
  for (std::uint64_t block = 1; block <= kSlabs; ++block)
    EXPECT_TRUE(slabs_.offset_of(page_of_block(block)).has_value());
  EXPECT_FALSE(slabs_.offset_of(page_of_block(kSlabs + 1)).has_value()) << "all are assigned";
}

TEST_F(FileSlabsTest, ARangeThatLeavesItsBlockHasNoPlaceAndTakesNoSlab) {
  for (std::uint64_t block = 1; block <= 2 * kSlabs; ++block) {
    EXPECT_FALSE(slabs_.offset_of({(block + 1) * kSlabBytes - kPage, (block + 1) * kSlabBytes + kPage}).has_value());
  }
  EXPECT_EQ(slabs_.offset_of(page_of_block(1)), kPage);
}

}  // namespace
}  // namespace softdat::memory
