// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/completion_ring.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "tests/asleep.h"

namespace softdat::simnic {
namespace {

hca::Completion make(std::uint64_t wr_id) {
  return {.wr_id = wr_id,
          .qp_context = ~wr_id,
          .length = static_cast<std::uint32_t>(wr_id * 3),
          .status = hca::CompletionStatus::kFlushed,
          .opcode = hca::CompletionOpcode::kRead,
          .solicited = wr_id % 2 == 0};
}

bool push(CompletionRing& ring, std::uint64_t wr_id) {
  return ring.push(make(wr_id)) == CompletionRing::Pushed::kYes;
}

TEST(CompletionRingTest, KnowsTheMostThatHaveWaitedAtOnce) {
  CompletionRing ring(4);
  hca::Completion out;
  for (std::uint64_t round = 0; round < 3; ++round) {
    for (std::uint64_t i = 0; i < 2; ++i) EXPECT_TRUE(push(ring, i));
    while (ring.pop(out)) {
    }
  }
  EXPECT_EQ(ring.high_water(), 2u);
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_TRUE(push(ring, i));
  EXPECT_FALSE(push(ring, 5));
  EXPECT_EQ(ring.high_water(), 4u);
  ring.close();
  EXPECT_EQ(ring.push(make(6)), CompletionRing::Pushed::kClosed);
  EXPECT_EQ(ring.high_water(), 4u);
}

// A producer that has lost its processor in the middle of a push hides what others have pushed since. Nobody may take
// that for an empty ring: a thread would sleep over a completion, or take a later event before it.
TEST(CompletionRingTest, ACompletionBehindAnUnpublishedOneIsAwaited) {
  CompletionRing ring(4);
  std::uint64_t position = 0;
  ASSERT_EQ(ring.claim(position), CompletionRing::Pushed::kYes);
  ASSERT_TRUE(push(ring, 2));
  EXPECT_FALSE(ring.looks_empty());
  std::atomic<int> consumer_id{0};
  std::vector<std::uint64_t> taken;
  std::thread consumer([&] {
    consumer_id.store(::gettid());
    hca::Completion out;
    while (ring.pop(out)) taken.push_back(out.wr_id);
  });
  while (consumer_id.load() == 0) std::this_thread::yield();
  await_asleep(consumer_id.load());
  ring.publish(position, make(1));
  consumer.join();
  EXPECT_EQ(taken, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_TRUE(ring.looks_empty());
}

// A producer may have been at the ring since before it was left, and goes on the moment it is opened.
TEST(CompletionRingTest, NobodyComesBeforeWhatARingIsRefilledWith) {
  constexpr std::uint64_t kMarker = 1'000'000'000;
  CompletionRing ring(8);
  ring.close();
  std::atomic<bool> is_over{false};
  std::thread producer([&] {
    for (std::uint64_t next = 1; !is_over;) next += push(ring, next) ? 1 : 0;
  });
  std::array<hca::Completion, 8> out{};
  int wrong = 0;
  for (int round = 0; round < 1'000'000; ++round) {
    ring.refill(std::array{make(kMarker), make(kMarker + 1), make(kMarker + 2)});
    const std::size_t count = ring.pop(out);
    wrong += count < 3 || out[0].wr_id != kMarker || out[2].wr_id != kMarker + 2 ? 1 : 0;
    ring.close();
    while (ring.pop(out) != 0) {
    }
  }
  is_over = true;
  producer.join();
  EXPECT_EQ(wrong, 0);
}

TEST(CompletionRingTest, AClosedRingTakesNothingAndGivesWhatItHas) {
  CompletionRing ring(4);
  ASSERT_TRUE(push(ring, 1));
  ring.close();
  EXPECT_EQ(ring.push(make(2)), CompletionRing::Pushed::kClosed);
  EXPECT_EQ(ring.size(), 1u);
  hca::Completion out{};
  ASSERT_EQ(ring.pop({&out, 1}), 1u);
  EXPECT_EQ(ring.size(), 0u);
  ring.open();
  EXPECT_TRUE(push(ring, 3));
  ASSERT_EQ(ring.pop({&out, 1}), 1u);
  EXPECT_EQ(out.wr_id, 3u);
}

TEST(CompletionRingTest, EveryFieldComesBack) {
  CompletionRing ring(4);
  ASSERT_TRUE(push(ring, 7));
  hca::Completion out{};
  ASSERT_EQ(ring.pop({&out, 1}), 1u);
  EXPECT_EQ(out.wr_id, 7u);
  EXPECT_EQ(out.qp_context, ~std::uint64_t{7});
  EXPECT_EQ(out.length, 21u);
  EXPECT_EQ(out.status, hca::CompletionStatus::kFlushed);
  EXPECT_EQ(out.opcode, hca::CompletionOpcode::kRead);
  EXPECT_FALSE(out.solicited);
}

TEST(CompletionRingTest, HoldsAtLeastWhatWasAskedForAndNotOneMore) {
  for (const std::size_t asked : {0u, 1u, 2u, 3u, 16u, 100u}) {
    CompletionRing ring(asked);
    EXPECT_GE(ring.capacity(), asked);
    for (std::size_t i = 0; i < ring.capacity(); ++i) EXPECT_TRUE(push(ring, i));
    EXPECT_FALSE(push(ring, 99));
    EXPECT_EQ(ring.size(), ring.capacity());
  }
}

TEST(CompletionRingTest, KeepsOrderRoundAfterRound) {
  CompletionRing ring(8);
  std::uint64_t pushed = 0, popped = 0;
  std::array<hca::Completion, 5> out;
  for (int round = 0; round < 1000; ++round) {
    while (push(ring, pushed)) ++pushed;
    const std::size_t count = ring.pop({out.data(), static_cast<std::size_t>(round % 6) % 6});
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(out[i].wr_id, popped++);
  }
  EXPECT_EQ(pushed - popped, ring.size());
}

TEST(CompletionRingTest, AnEmptyRingGivesNothing) {
  CompletionRing ring(8);
  std::array<hca::Completion, 4> out;
  EXPECT_EQ(ring.pop(out), 0u);
  EXPECT_EQ(ring.pop({}), 0u);
  EXPECT_EQ(ring.size(), 0u);
}

TEST(CompletionRingTest, ManyProducersAndConsumersLoseAndRepeatNothing) {
  constexpr std::uint64_t kProducers = 3, kEach = 20'000;
  CompletionRing ring(64);
  std::vector<std::atomic<std::uint8_t>> seen(kProducers * kEach);
  std::atomic<std::uint64_t> taken{0};
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t p = 0; p < kProducers; ++p) {
      threads.emplace_back([&, p] {
        for (std::uint64_t i = 0; i < kEach; ++i) {
          while (!push(ring, p * kEach + i)) std::this_thread::yield();
        }
      });
    }
    for (std::size_t batch = 1; batch <= 3; ++batch) {
      threads.emplace_back([&, batch] {
        std::array<hca::Completion, 3> out;
        std::array<std::uint64_t, kProducers> last{};
        while (taken.load() < kProducers * kEach) {
          const std::size_t count = ring.pop({out.data(), batch});
          for (std::size_t i = 0; i < count; ++i) {
            ASSERT_EQ(out[i].qp_context, ~out[i].wr_id);
            seen[out[i].wr_id].fetch_add(1);
            // What one consumer sees of one producer is in order.
            auto& before = last[out[i].wr_id / kEach];
            ASSERT_GE(out[i].wr_id + 1, before);
            before = out[i].wr_id + 1;
          }
          taken.fetch_add(count);
          if (count == 0) std::this_thread::yield();
        }
      });
    }
  }
  for (const auto& count : seen) ASSERT_EQ(count.load(), 1);
}

}  // namespace
}  // namespace softdat::simnic
