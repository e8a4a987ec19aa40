// SPDX-License-Identifier: BSD-2-Clause
// A LinkWriter alone, with the peer's end of the ring in the test's hands.
#include "transport/shm/link_writer.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "base/pause.h"
#include "transport/shm/carrier_parts.h"
#include "transport/shm/ring_reader.h"

namespace softdat::transport::shm {
namespace {

constexpr std::uint64_t kWord = pack(RecordWord{.bytes = 0, .kind = RecordKind::kMessage, .channel = 1});

// Watches nothing, and counts what would end a wait.
class CountingReactor final : public Reactor {
 public:
  std::unique_ptr<Watch> watch(int, ReadinessSink&) override { return nullptr; }
  std::size_t dispatch(bool) override { return 0; }
  void prepare_wait() override {}
  void wait(base::Time) override {}
  void interrupt() override { interrupts.fetch_add(1); }
  bool has_failed() const override { return false; }

  std::atomic<int> interrupts{0};
};

class CountingSink final : public ChannelSink {
 public:
  Placement place(const Arrival&, SliceList&) override { return Placement::kDiscard; }
  void on_message(const Message&) override {}
  void on_writable() override { ++resumed; }
  void on_established(const Offer&) override {}
  void on_refused(Refusal, std::span<const std::byte>) override {}
  void on_closed(CloseReason, const TerminateCode&) override {}

  int resumed = 0;
};

std::pair<PeerSocket, PeerSocket> make_sockets() {
  std::array<int, 2> ends{-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
  return {PeerSocket(base::UniqueFd(ends[0])), PeerSocket(base::UniqueFd(ends[1]))};
}

class LinkWriterTest : public testing::Test {
 protected:
  void post() { writer_.post(RecordKind::kBye, 1, {}); }
  // Until a record has to wait.
  void fill() {
    while (!writer_.has_writers()) post();
  }
  // To the last line, while no record waits.
  void fill_exactly() {
    for (const std::size_t bytes : {kMostRecord, kLine}) {
      const auto length = static_cast<std::uint32_t>(bytes);
      while (writer_.ring().has_room(bytes)) {
        static_cast<void>(writer_.ring().begin(bytes));
        writer_.ring().publish(pack({.bytes = length, .kind = RecordKind::kMore, .channel = 1}), bytes);
      }
    }
  }
  void consume_all() {
    while (const std::uint64_t word = reader_.peek()) reader_.consume(unpack(word).bytes);
  }
  // Takes all that is in the ring, and gives the room back. Whether the peer is to be rung for that.
  bool read_all() {
    consume_all();
    return reader_.publish();
  }

  SegmentPlaces places_;
  std::optional<Segment> segment_ = Segment::create(kSmallestRing, places_);
  std::pair<PeerSocket, PeerSocket> sockets_ = make_sockets();
  CountingReactor reactor_;
  Attention attention_{reactor_};
  LinkEnd end_{attention_};
  LinkWriter writer_{attention_, end_, sockets_.first, segment_->ring_of(Side::kConnector), SleepFence::kBoth};
  RingReader reader_{segment_->ring_of(Side::kConnector), SleepFence::kBoth};
};

TEST_F(LinkWriterTest, ARecordWithoutRoomWaitsAndThenGoes) {
  fill();
  EXPECT_TRUE(writer_.is_congested());
  EXPECT_FALSE(writer_.is_room_news());
  EXPECT_TRUE(read_all()) << "the writer waits for room";
  EXPECT_TRUE(writer_.is_room_news());
  EXPECT_EQ(writer_.write_on(), 1u);
  EXPECT_FALSE(writer_.is_congested());
  EXPECT_NE(reader_.peek(), 0u);
  EXPECT_FALSE(end_.is_due());
}

TEST_F(LinkWriterTest, AShortMessageDoesNotOvertakeARecordThatWaits) {
  const HeadWord head{.opcode = Opcode::kSend, .acks = 0, .length = 0};
  EXPECT_TRUE(writer_.put(kWord, head, {}));
  fill();
  read_all();
  EXPECT_FALSE(writer_.put(kWord, head, {}));
  writer_.write_on();
  EXPECT_TRUE(writer_.put(kWord, head, {}));
}

// A poster's short message looks at the peer's head, and so hides that the room is new.
TEST_F(LinkWriterTest, ABlockedChannelHearsOfRoomThatAShortMessageHasSeen) {
  CarrierParts parts(reactor_, {});
  CountingSink sink;
  ShmChannel channel(parts, sink);
  fill_exactly();
  EXPECT_FALSE(read_all()) << "the peer makes room, knows of no wish, and so rings nobody";
  EXPECT_TRUE(writer_.put(kWord, {.opcode = Opcode::kSend, .acks = 0, .length = 0}, {}));
  const int before = reactor_.interrupts.load();
  writer_.block(channel);
  EXPECT_GT(reactor_.interrupts.load(), before) << "a turn would find the room";
  EXPECT_EQ(writer_.write_on(), 1u);
  EXPECT_EQ(sink.resumed, 1);
}

// Else the carrier would find room news for ever, and never sleep.
TEST_F(LinkWriterTest, AChannelThatLeavesTakesItsWishForRoomWithIt) {
  CarrierParts parts(reactor_, {});
  CountingSink sink;
  {
    ShmChannel channel(parts, sink);
    fill_exactly();
    writer_.block(channel);
  }
  EXPECT_FALSE(writer_.has_writers());
  read_all();
  EXPECT_TRUE(writer_.is_room_news());
  writer_.write_on();
  EXPECT_FALSE(writer_.is_room_news());
  EXPECT_FALSE(read_all()) << "the peer rings for no room";
}

// The peer makes room while the writer says that it wants some. If the peer does not ring for it, this carrier has to
// look by itself, though its engine thread may sleep.
TEST_F(LinkWriterTest, RoomIsMadeKnownToOneOfTheTwo) {
  constexpr int kRounds = 2000;
  std::atomic<int> round{0};
  std::atomic<int> published{0};
  std::atomic<bool> rings{false};
  const auto pause = [](std::uint32_t times) {
    for (; times > 0; --times) base::pause_processor();
  };
  std::thread peer([&] {
    std::minstd_rand random(1);
    for (int i = 1; i <= kRounds; ++i) {
      while (round.load() != i) base::pause_processor();
      pause(random() % 4);
      rings.store(reader_.publish());
      published.store(i);
    }
  });
  int missed = 0;
  for (int i = 1; i <= kRounds; ++i) {
    fill_exactly();
    consume_all();
    const int before = reactor_.interrupts.load();
    round.store(i);
    pause(static_cast<std::uint32_t>(i) % 4);
    post();
    while (published.load() != i) std::this_thread::yield();
    if (writer_.has_writers() && !rings.load() && reactor_.interrupts.load() == before) ++missed;
    writer_.write_on();
    read_all();
  }
  peer.join();
  EXPECT_EQ(missed, 0) << "rounds in which nobody would have looked for the room";
}

}  // namespace
}  // namespace softdat::transport::shm
