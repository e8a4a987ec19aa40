// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/work_queue.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <thread>

namespace softdat::simnic {
namespace {

RecvEntry entry(std::uint64_t wr_id, std::uint16_t segments) {
  return {.wr_id = wr_id, .length = 0, .flags = 0, .segment_count = segments};
}

TEST(WorkQueueTest, KeepsCopiesOfSegmentsPerRequest) {
  WorkQueue<RecvEntry> queue(4, 3);
  std::vector<hca::Segment> segments{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  queue.push(entry(1, 3), segments);
  queue.push(entry(2, 1), std::span(segments).first(1));
  segments.assign(3, {0, 0, 0});
  EXPECT_EQ(queue.segments(0).size(), 3u);
  EXPECT_EQ(queue.segments(0)[2].address, 7u);
  EXPECT_EQ(queue.segments(1)[0].lkey, 3u);
  EXPECT_EQ(queue.pop().wr_id, 1u);
  EXPECT_EQ(queue.segments(1)[0].lkey, 3u);
}

TEST(WorkQueueTest, IsFullAtItsCapacityRoundAfterRound) {
  WorkQueue<RecvEntry> queue(5, 0);
  EXPECT_EQ(queue.capacity(), 8u);
  std::uint64_t pushed = 0, popped = 0;
  for (int round = 0; round < 100; ++round) {
    for (; !queue.is_full(); ++pushed) queue.push(entry(pushed, 0), {});
    EXPECT_EQ(queue.outstanding(), 8u);
    for (int i = 0; i <= round % 8; ++i) EXPECT_EQ(queue.pop().wr_id, popped++);
  }
}

TEST(WorkQueueTest, AZeroCapacityStillHoldsOne) {
  WorkQueue<SendEntry> queue(0, 0);
  EXPECT_EQ(queue.capacity(), 1u);
  EXPECT_TRUE(queue.is_empty());
  queue.push({}, {});
  EXPECT_TRUE(queue.is_full());
}

TEST(WorkQueueTest, KnowsTheMostThatWereOutstandingAtOnce) {
  WorkQueue<RecvEntry> queue(8, 0);
  EXPECT_EQ(queue.high_water(), 0u);
  const auto post = [&] {
    EXPECT_FALSE(queue.is_full());
    queue.push(entry(0, 0), {});
  };
  for (int i = 0; i < 3; ++i) post();
  EXPECT_EQ(queue.high_water(), 3u);
  for (int i = 0; i < 3; ++i) queue.drop_oldest();
  for (int i = 0; i < 2; ++i) post();
  EXPECT_EQ(queue.high_water(), 3u);
  for (int i = 0; i < 6; ++i) post();
  EXPECT_TRUE(queue.is_full());
  EXPECT_EQ(queue.high_water(), 8u);
}

TEST(WorkQueueTest, InheritsRequestsWithTheirSegmentsIfThereIsRoom) {
  WorkQueue<RecvEntry> from(4, 1), small(1, 1), to(2, 1);
  const hca::Segment segment{1, 2, 3};
  for (std::uint64_t i = 0; i < 2; ++i) from.push(entry(i, 1), {&segment, 1});
  EXPECT_FALSE(inherit(from, small));
  EXPECT_EQ(from.outstanding(), 2u);
  EXPECT_TRUE(inherit(from, to));
  EXPECT_TRUE(from.is_empty());
  EXPECT_EQ(to.segments(1)[0].lkey, 3u);
  for (std::uint64_t i = 0; i < 2; ++i) EXPECT_EQ(to.pop().wr_id, i);
}

// Places are kept if words are wanted, which a process asks once, so this one has a process of its own.
TEST(WorkQueueTest, InheritedRequestKeepsThePlaceOfItsPost) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto inherit_one = [] {
    ::setenv("SOFTDAT_LOG", "notice", 1);
    WorkQueue<RecvEntry> from(1, 0), to(1, 0);
    from.note_place(&from);
    from.push(entry(1, 0), {});
    const bool is_kept = inherit(from, to) && to.place(0) == &from;
    ::_exit(is_kept ? 0 : 1);
  };
  EXPECT_EXIT(inherit_one(), ::testing::ExitedWithCode(0), "");
}

TEST(WorkQueueTest, APosterAndAConsumerMayRunAtOnce) {
  WorkQueue<RecvEntry> queue(8, 1);
  constexpr std::uint64_t kCount = 50'000;
  std::jthread poster([&] {
    for (std::uint64_t i = 0; i < kCount; ++i) {
      while (queue.is_full()) std::this_thread::yield();
      const hca::Segment segment{i, 1, 2};
      queue.push(entry(i, 1), {&segment, 1});
    }
  });
  for (std::uint64_t i = 0; i < kCount; ++i) {
    while (queue.is_empty()) std::this_thread::yield();
    ASSERT_EQ(queue.segments(i)[0].address, i);
    ASSERT_EQ(queue.pop().wr_id, i);
  }
}

}  // namespace
}  // namespace softdat::simnic
