// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/completion_ring.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>
#include <thread>
#include <tuple>
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

TEST(CompletionRingTest, EveryFieldComesOutAsItWentIn) {
  CompletionRing ring(4);
  const hca::Completion full{.wr_id = ~std::uint64_t{0},
                             .qp_context = ~std::uint64_t{0},
                             .length = ~std::uint32_t{0},
                             .status = hca::CompletionStatus::kBindFailed,
                             .opcode = hca::CompletionOpcode::kRecvDatagram,
                             .solicited = true,
                             .invalidated = ~std::uint32_t{0},
                             .srq_account = 0xffff,
                             .immediate = ~std::uint32_t{0}};
  const hca::Completion empty{.wr_id = 0,
                              .qp_context = 0,
                              .length = 0,
                              .status = hca::CompletionStatus::kSuccess,
                              .opcode = hca::CompletionOpcode::kSend,
                              .solicited = false};
  // Each field full among empty ones, and empty among full ones.
  const auto expect_all = [&](const hca::Completion& base, const hca::Completion& other) {
    for (int field = 0; field < 9; ++field) {
      hca::Completion in = base;
      if (field == 0) in.wr_id = other.wr_id;
      if (field == 1) in.qp_context = other.qp_context;
      if (field == 2) in.length = other.length;
      if (field == 3) in.status = other.status;
      if (field == 4) in.opcode = other.opcode;
      if (field == 5) in.solicited = other.solicited;
      if (field == 6) in.invalidated = other.invalidated;
      if (field == 7) in.srq_account = other.srq_account;
      if (field == 8) in.immediate = other.immediate;
      ASSERT_EQ(ring.push(in), CompletionRing::Pushed::kYes);
      hca::Completion out{};
      ASSERT_TRUE(ring.pop(out));
      const auto fields = [](const hca::Completion& of) {
        return std::tuple(of.wr_id, of.qp_context, of.length, of.status, of.opcode, of.solicited, of.invalidated,
                          of.srq_account, of.immediate);
      };
      EXPECT_TRUE(fields(in) == fields(out)) << "field " << field;
    }
  };
  expect_all(empty, full);
  expect_all(full, empty);
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
  hca::Completion out{};
  int wrong = 0;
  for (int round = 0; round < 1'000'000; ++round) {
    for (std::uint64_t i = 0; i < 3; ++i) ring.put(make(kMarker + i));
    ring.open();
    for (std::uint64_t i = 0; i < 3; ++i) wrong += !ring.pop(out) || out.wr_id != kMarker + i ? 1 : 0;
    ring.close();
    while (ring.pop(out)) {
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
  ASSERT_TRUE(ring.pop(out));
  EXPECT_EQ(ring.size(), 0u);
  ring.open();
  EXPECT_TRUE(push(ring, 3));
  ASSERT_TRUE(ring.pop(out));
  EXPECT_EQ(out.wr_id, 3u);
}

TEST(CompletionRingTest, EveryFieldComesBack) {
  CompletionRing ring(4);
  ASSERT_TRUE(push(ring, 7));
  hca::Completion out{};
  ASSERT_TRUE(ring.pop(out));
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
  hca::Completion out;
  for (int round = 0; round < 1000; ++round) {
    while (push(ring, pushed)) ++pushed;
    for (int i = 0; i < round % 6; ++i) {
      ASSERT_TRUE(ring.pop(out));
      ASSERT_EQ(out.wr_id, popped++);
    }
  }
  EXPECT_EQ(pushed - popped, ring.size());
}

TEST(CompletionRingTest, AnEmptyRingGivesNothing) {
  CompletionRing ring(8);
  hca::Completion out;
  EXPECT_FALSE(ring.pop(out));
  EXPECT_TRUE(ring.looks_empty());
  EXPECT_EQ(ring.size(), 0u);
}

// Consumers take turns: what one has seen holds for the next.
TEST(CompletionRingTest, ManyProducersAndConsumersInTurnLoseAndRepeatNothing) {
  constexpr std::uint64_t kProducers = 3, kConsumers = 3, kEach = 20'000;
  CompletionRing ring(64);
  std::vector<std::uint64_t> taken(kProducers * kEach);
  std::mutex turn;  // guards `count`, too
  std::uint64_t count = 0;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t p = 0; p < kProducers; ++p) {
      threads.emplace_back([&, p] {
        for (std::uint64_t i = 0; i < kEach; ++i) {
          while (!push(ring, p * kEach + i)) std::this_thread::yield();
        }
      });
    }
    for (std::uint64_t c = 0; c < kConsumers; ++c) {
      threads.emplace_back([&] {
        for (bool is_over = false; !is_over; std::this_thread::yield()) {
          const std::lock_guard lock(turn);
          hca::Completion out;
          while (ring.pop(out)) {
            ASSERT_EQ(out.qp_context, ~out.wr_id);
            ASSERT_LT(count, taken.size());
            taken[count++] = out.wr_id;
          }
          is_over = count == taken.size();
        }
      });
    }
  }
  // Each producer's in order.
  std::array<std::uint64_t, kProducers> next{};
  for (const std::uint64_t wr_id : taken) ASSERT_EQ(wr_id % kEach, next[wr_id / kEach]++);
}

}  // namespace
}  // namespace softdat::simnic
