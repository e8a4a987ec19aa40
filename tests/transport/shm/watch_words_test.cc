// SPDX-License-Identifier: BSD-2-Clause
#include "transport/watch_words.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>

namespace softdat::transport {
namespace {

class WatchWordsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!base::install_fault_guard() || !base::has_guarded_instructions()) GTEST_SKIP() << "no guarded loads here";
    words_.set(0, bytes_of(first_));
    words_.set(1, bytes_of(second_));
  }
  static const std::byte* bytes_of(const std::uint64_t& word) { return reinterpret_cast<const std::byte*>(&word); }

  WatchWords words_;
  std::uint64_t first_ = 0;
  std::uint64_t second_ = 0;
};

TEST_F(WatchWordsTest, AreQuietWhileAllThatArePublishedAreZero) {
  EXPECT_FALSE(words_.are_quiet());
  words_.publish(2);
  EXPECT_TRUE(words_.are_quiet());
  second_ = 1;
  EXPECT_FALSE(words_.are_quiet());
  words_.publish(1);
  EXPECT_TRUE(words_.are_quiet());
  first_ = std::uint64_t{1} << 63;
  EXPECT_FALSE(words_.are_quiet());
  first_ = 0;
  words_.clear();
  EXPECT_FALSE(words_.are_quiet());
}

TEST_F(WatchWordsTest, AWordThatIsUnmappedCountsAsSomething) {
  constexpr std::size_t kBytes = 4096;
  void* const page = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  words_.set(1, static_cast<const std::byte*>(page));
  words_.publish(2);
  EXPECT_TRUE(words_.are_quiet());
  ASSERT_EQ(::munmap(page, kBytes), 0);
  EXPECT_FALSE(words_.are_quiet());
}

}  // namespace
}  // namespace softdat::transport
