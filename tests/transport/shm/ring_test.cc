// SPDX-License-Identifier: BSD-2-Clause
// The ring in shared memory: what goes in comes out, in order, whatever the two ends do meanwhile.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>

#include "base/process_fence.h"
#include "transport/shm/ring_reader.h"
#include "transport/shm/ring_writer.h"

namespace softdat::transport::shm {
namespace {

class RingTest : public testing::Test {
 protected:
  RingTest()
      : segment_(Segment::create(kSmallestRing, places_)),
        memory_(segment_->ring_of(Side::kConnector)),
        writer_(memory_, SleepFence::kBoth),
        reader_(memory_, SleepFence::kBoth) {}

  // A record whose bytes all tell its number.
  bool write(std::uint64_t number, std::size_t bytes) {
    if (!writer_.has_room(bytes)) return false;
    std::memset(writer_.begin(bytes) + 8, static_cast<int>(number & 0xff), bytes - 8);
    writer_.publish(number << 32 | bytes, bytes);
    return true;
  }
  // The next record's number, or 0; checks its bytes.
  std::uint64_t read() {
    const std::uint64_t word = reader_.peek();
    if (word == 0) return 0;
    const std::size_t bytes = word & 0xffffffff;
    for (std::size_t i = 8; i < bytes; ++i) {
      EXPECT_EQ(reader_.record()[i], static_cast<std::byte>(word >> 32));
    }
    reader_.consume(bytes);
    return word >> 32;
  }

  SegmentPlaces places_;
  std::optional<Segment> segment_;
  RingMemory memory_;
  RingWriter writer_;
  RingReader reader_;
};

TEST_F(RingTest, IsEmptyAtFirst) {
  EXPECT_EQ(reader_.peek(), 0u);
  EXPECT_EQ(writer_.room(), kSmallestRing - kLine);
}

TEST_F(RingTest, FillsToTheLastLineAndRefusesMore) {
  std::uint64_t count = 0;
  while (write(count + 1, kLine)) ++count;
  EXPECT_EQ(count, kSmallestRing / kLine - 1);
  for (std::uint64_t i = 1; i <= count; ++i) EXPECT_EQ(read(), i);
  EXPECT_EQ(read(), 0u);
  EXPECT_FALSE(write(1, kLine)) << "room is there only once it is published";
  EXPECT_FALSE(reader_.publish());
  EXPECT_TRUE(write(1, kLine));
}

TEST_F(RingTest, OldBytesAreNeverTakenForARecord) {
  for (int lap = 0; lap < 3; ++lap) {
    std::uint64_t count = 0;
    while (write(0xffffffff, kLine)) ++count;
    for (; count > 0; --count) EXPECT_EQ(read(), 0xffffffffu);
    EXPECT_EQ(reader_.peek(), 0u);
    reader_.publish();
  }
}

TEST_F(RingTest, RecordsMayLieAcrossTheEnd) {
  std::mt19937 random(3);
  for (std::uint64_t number = 1; number < 2000; ++number) {
    const std::size_t bytes = 8 + random() % 9000;
    ASSERT_TRUE(write(number, bytes));
    ASSERT_EQ(read(), number & 0xffffffff);
    reader_.publish();
  }
}

TEST_F(RingTest, AHeadThatMakesNoSenseBreaksTheWriter) {
  while (write(1, kLine)) continue;
  for (const std::uint64_t head : {std::uint64_t{1}, kSmallestRing * 2, ~std::uint64_t{63}}) {
    RingWriter writer(memory_, SleepFence::kBoth);
    memory_.control->head.store(head);
    EXPECT_FALSE(writer.has_room(kSmallestRing));
    EXPECT_TRUE(writer.is_broken());
    EXPECT_FALSE(writer.has_room(kLine));
  }
}

TEST_F(RingTest, TheBellIsRungOncePerSleep) {
  EXPECT_FALSE(writer_.claim_bell());
  reader_.arm();
  EXPECT_TRUE(writer_.claim_bell());
  EXPECT_FALSE(writer_.claim_bell());
  reader_.arm();
  reader_.disarm();
  EXPECT_FALSE(writer_.claim_bell());
}

TEST_F(RingTest, AWaitingWriterHearsOfRoom) {
  while (write(1, kLine)) continue;
  EXPECT_EQ(writer_.want_room(), Wish::kNoted);
  EXPECT_FALSE(writer_.is_room_news());
  EXPECT_EQ(read(), 1u);
  EXPECT_FALSE(writer_.is_room_news());
  EXPECT_TRUE(reader_.publish());
  EXPECT_TRUE(writer_.is_room_news());
  writer_.stop_wanting_room();
  EXPECT_FALSE(writer_.is_room_news());
  EXPECT_FALSE(reader_.publish());
}

TEST_F(RingTest, AWriterHearsOfRoomThatWasMadeBeforeItsWish) {
  while (write(1, kLine)) continue;
  EXPECT_EQ(read(), 1u);
  EXPECT_FALSE(reader_.publish()) << "the reader knows of no wish, and so rings nobody";
  EXPECT_EQ(writer_.want_room(), Wish::kMissed);
  EXPECT_TRUE(writer_.is_room_news());
  EXPECT_TRUE(write(1, kLine));
}

TEST_F(RingTest, AWishOfABrokenWriterIsNotWaitedFor) {
  while (write(1, kLine)) continue;
  memory_.control->head.store(1);
  EXPECT_FALSE(writer_.has_room(kSmallestRing));
  EXPECT_EQ(writer_.want_room(), Wish::kBroken);
}

TEST_F(RingTest, TwoThreadsLoseNothing) {
  constexpr std::uint64_t kCount = 100000;
  std::thread producer([this] {
    std::mt19937 random(5);
    for (std::uint64_t number = 1; number <= kCount;) {
      const std::size_t bytes = 8 + random() % 300;
      while (!write(number, bytes)) std::this_thread::yield();
      ++number;
    }
  });
  for (std::uint64_t expected = 1; expected <= kCount;) {
    const std::uint64_t number = read();
    if (number == 0) {
      reader_.publish();
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(number, expected);
    ++expected;
    if (reader_.is_publish_due()) reader_.publish();
  }
  producer.join();
}

// Its bytes lie where later records begin.
TEST_F(RingTest, ARecordThatWasGivenUpLeavesNothingBehind) {
  for (int lap = 0; lap < 2; ++lap) {
    for (std::uint64_t number = 1; number <= kSmallestRing / kLine; ++number) {
      std::memset(writer_.begin(8 * kLine), 0xff, 8 * kLine);
      ASSERT_TRUE(write(number, kLine));
      ASSERT_EQ(read(), number);
      ASSERT_EQ(reader_.peek(), 0u) << "record " << number << " of lap " << lap;
      reader_.publish();
      ASSERT_TRUE(writer_.has_room(kSmallestRing / 2));
    }
  }
}

// Dekker's pattern of arm() and claim_bell(): one of the two must notice the other.
class SleepFenceTest : public RingTest, public testing::WithParamInterface<SleepFence> {};

TEST_P(SleepFenceTest, NoSleepMissesARecord) {
  if (GetParam() == SleepFence::kConsumer && !base::join_fences()) GTEST_SKIP() << "this kernel has no such fences";
  RingWriter writer(memory_, GetParam());
  RingReader reader(memory_, GetParam());
  constexpr std::uint64_t kRounds = 20000;
  std::atomic<std::uint64_t> round_done{0};
  std::atomic<std::uint64_t> bells{0};
  std::thread producer([&] {
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      while (!writer.has_room(kLine)) std::this_thread::yield();
      writer.begin(kLine);
      writer.publish(round, kLine);
      if (writer.claim_bell()) bells.fetch_add(1);
      while (round_done.load() != round) std::this_thread::yield();
    }
  });
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    while (true) {
      const std::uint64_t heard = bells.load();
      reader.arm();
      if (GetParam() == SleepFence::kConsumer) {
        ASSERT_TRUE(base::fence_everyone());
      }
      if (reader.has_record()) break;
      // Asleep: only the bell ends it (the test would hang here if it were not rung).
      while (bells.load() == heard) std::this_thread::yield();
    }
    reader.disarm();
    EXPECT_EQ(reader.peek(), round);
    reader.consume(kLine);
    reader.publish();
    round_done.store(round);
  }
  producer.join();
}

INSTANTIATE_TEST_SUITE_P(Either, SleepFenceTest, testing::Values(SleepFence::kBoth, SleepFence::kConsumer),
                         [](const auto& fence) { return fence.param == SleepFence::kBoth ? "Both" : "Consumer"; });

}  // namespace
}  // namespace softdat::transport::shm
