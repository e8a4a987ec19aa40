// SPDX-License-Identifier: BSD-2-Clause
// Acks that ride: where both peers agreed on it, an ack travels in the header of the send behind it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/scarce_memory.h"
#include "tests/transport/tcp/socket_pair.h"
#include "transport/tcp/fpdu.h"
#include "transport/tcp/inbound.h"
#include "transport/tcp/outbound.h"

namespace softdat::transport::tcp {
namespace {

using testing::ElementsAre;

constexpr std::size_t kLarge = 60000;
constexpr std::size_t kSendBytes = fpdu_size(kUntaggedHeadSize + 8);
constexpr std::size_t kNoteBytes = fpdu_size(kTaggedHeadSize);

class Memory final : public PayloadSource {
 public:
  bool gather(std::uint64_t offset, std::size_t length, SliceList& out) override {
    return is_readable && out.add(bytes_.data() + offset, length);
  }
  bool is_readable = true;

 private:
  std::vector<std::byte> bytes_ = std::vector<std::byte>(kLarge);
};

// Writes down what comes.
class Listener final : public InboundSink {
 public:
  Placement place(const Arrival&, SliceList&) override { return Placement::kDiscard; }
  void on_fault(const Arrival&) override {}
  void on_message(const Message& message) override {
    if (message.opcode == Opcode::kNote) {
      heard.push_back((message.note == NoteKind::kAck ? "ack " : "note ") + std::to_string(message.note_value));
    } else {
      heard.push_back("message " + std::to_string(message.length));
    }
    is_open = is_open && heard.back() != last_word;
  }
  void on_ready_to_receive(const Message&) override {}
  bool is_receiving() const override { return is_open; }
  bool on_short_send(const ShortSend& short_send) override {
    if (!takes_short_sends) return false;
    if (short_send.acked) heard.push_back("ack " + std::to_string(*short_send.acked));
    heard.push_back("short " + std::to_string(short_send.payload.size()));
    return true;
  }

  std::vector<std::string> heard;
  bool takes_short_sends = false;
  std::string last_word;
  bool is_open = true;
};

class RidingAck : public testing::Test {
 protected:
  RidingAck() { start(true, false); }
  void start(bool acks_ride, bool has_crc) {
    stream_.start(
        {.has_crc = has_crc, .knows_notes = true, .acks_ride = acks_ride, .max_ulpdu = 61440 + kTaggedHeadSize});
    inbound_.start({.has_crc = has_crc, .knows_notes = true, .acks_ride = acks_ride});
  }
  WriteStatus give(const Message& message) { return outbound_.send(sockets_.writer.get(), message, &memory_); }
  void ack(std::uint64_t count, NoteKind kind = NoteKind::kAck) {
    ASSERT_EQ(give({.opcode = Opcode::kNote, .note = kind, .note_value = count}), WriteStatus::kDone);
  }
  void message(Opcode opcode, std::uint32_t length) {
    ASSERT_EQ(give({.opcode = opcode, .length = length, .stag = opcode == Opcode::kSend ? 0u : 7u}),
              WriteStatus::kDone);
  }
  bool short_send(std::size_t length, std::optional<std::uint64_t> acked = {}) {
    return outbound_.send_short({.payload = std::span(bytes_).first(length), .acked = acked});
  }
  // How many bytes go to the peer, which hears what is in them.
  std::size_t flush() {
    EXPECT_EQ(stream_.flush(sockets_.writer.get()), WriteStatus::kDone);
    EXPECT_TRUE(stream_.is_flushed());
    const std::size_t bytes = inbound_.read(sockets_.reader.get(), 1 << 20).bytes;
    return bytes;
  }

  BufferPool pool_;
  Memory memory_;
  std::vector<std::byte> bytes_ = std::vector<std::byte>(kLarge);
  Listener listener_;
  SocketPair sockets_;
  OutboundStream stream_{pool_};
  Outbound outbound_{stream_};
  Inbound inbound_{pool_, listener_};
};

TEST_F(RidingAck, AnAckBeforeASendTakesNoFpduOfItsOwn) {
  for (const bool has_crc : {false, true}) {
    start(true, has_crc);
    listener_.heard.clear();
    const std::uint64_t before = has_crc ? 3 : 0;
    ack(before + 1);
    message(Opcode::kSend, 8);
    ack(before + 3);
    message(Opcode::kSendSolicited, 8);
    EXPECT_EQ(flush(), 2 * kSendBytes);
    EXPECT_THAT(listener_.heard, ElementsAre("ack " + std::to_string(before + 1), "message 8",
                                             "ack " + std::to_string(before + 3), "message 8"));
  }
}

TEST_F(RidingAck, AnAckThatNothingFollowsGoesAlone) {
  ack(5);
  EXPECT_FALSE(stream_.is_flushed());
  EXPECT_EQ(flush(), kNoteBytes);
  ack(6);
  message(Opcode::kSend, 8);
  EXPECT_EQ(flush(), kSendBytes);
  EXPECT_THAT(listener_.heard, ElementsAre("ack 5", "ack 6", "message 8"));
}

TEST_F(RidingAck, OfSeveralAcksTheLastOneRides) {
  ack(1);
  ack(4);
  message(Opcode::kSend, 8);
  message(Opcode::kSend, 8);
  EXPECT_EQ(flush(), 2 * kSendBytes);
  EXPECT_THAT(listener_.heard, ElementsAre("ack 4", "message 8", "message 8"));
}

TEST_F(RidingAck, BeforeEverythingElseItGoesAlone) {
  ack(1);
  message(Opcode::kWrite, 8);
  ack(2);
  message(Opcode::kSendInvalidate, 8);
  ack(3);
  ack(0, NoteKind::kResend);
  ack(4);
  message(Opcode::kSend, kLarge);  // goes from where it lies
  ack(5);
  stream_.append_note(NoteKind::kBye, 0);
  flush();
  EXPECT_THAT(listener_.heard, ElementsAre("ack 1", "message 8", "ack 2", "message 8", "ack 3", "note 0", "ack 4",
                                           "message 60000", "ack 5", "note 0"));
}

// The buffer is flushed to make room for the message, and the ack leaves with it.
TEST_F(RidingAck, AFlushThatMakesRoomTakesTheAckOnce) {
  constexpr std::uint32_t kCopied = 8192;
  for (int i = 0; i < 4; ++i) message(Opcode::kSend, kCopied);
  ack(1);
  message(Opcode::kWrite, 8);
  ack(2);
  message(Opcode::kSend, 8);
  flush();
  const std::string copied = "message " + std::to_string(kCopied);
  EXPECT_THAT(listener_.heard, ElementsAre(copied, copied, copied, copied, "ack 1", "message 8", "ack 2", "message 8"));
}

TEST_F(RidingAck, ASendWhoseMemoryCannotBeReadLosesNoAck) {
  ack(2);
  memory_.is_readable = false;
  EXPECT_EQ(give({.opcode = Opcode::kSend, .length = 8}), WriteStatus::kFault);
  EXPECT_EQ(flush(), kNoteBytes);
  EXPECT_THAT(listener_.heard, ElementsAre("ack 2"));
}

// A lost ack would leave the peer's sends without completions, because later acks count from it.
TEST_F(RidingAck, WithoutMemoryForAnAckTheConnectionIsLost) {
  ack(1);
  scarce_memory::allocations_left = 0;
  const WriteStatus status = stream_.flush(sockets_.writer.get());
  scarce_memory::allocations_left = -1;
  EXPECT_EQ(status, WriteStatus::kLost);
}

TEST_F(RidingAck, AStepTooFarForTheFieldGoesAlone) {
  ack(std::uint64_t{1} << 40);
  message(Opcode::kSend, 8);
  EXPECT_EQ(flush(), kNoteBytes + kSendBytes);
  ack((std::uint64_t{1} << 40) + 1);
  message(Opcode::kSend, 8);
  EXPECT_EQ(flush(), kSendBytes);
  EXPECT_THAT(listener_.heard, ElementsAre("ack 1099511627776", "message 8", "ack 1099511627777", "message 8"));
}

TEST_F(RidingAck, WithoutTheAgreementNoneRidesAndNoneIsHeard) {
  start(false, false);
  ack(1);
  message(Opcode::kSend, 8);
  EXPECT_EQ(flush(), kNoteBytes + kSendBytes);
  stream_.start({.knows_notes = true, .acks_ride = true, .max_ulpdu = 61440 + kTaggedHeadSize});
  ack(2);
  message(Opcode::kSend, 8);
  EXPECT_EQ(flush(), kSendBytes);
  EXPECT_THAT(listener_.heard, ElementsAre("ack 1", "message 8", "message 8"));
}

TEST_F(RidingAck, AShortSendIsSentAsOthersAreAndTheSinkMayTakeItAtOnce) {
  for (const bool has_crc : {false, true}) {
    start(true, has_crc);
    listener_.heard.clear();
    const std::uint64_t before = has_crc ? 4 : 0;
    const auto ack_of = [&](std::uint64_t count) { return "ack " + std::to_string(before + count); };
    listener_.takes_short_sends = true;
    EXPECT_TRUE(short_send(8, before + 2));
    EXPECT_TRUE(short_send(0));
    ack(before + 3);
    EXPECT_TRUE(short_send(8));
    message(Opcode::kSend, 8);
    EXPECT_EQ(flush(), 3 * kSendBytes + fpdu_size(kUntaggedHeadSize));
    EXPECT_THAT(listener_.heard, ElementsAre(ack_of(2), "short 8", "short 0", ack_of(3), "short 8", "short 8"));
    // What the sink does not take comes piece by piece, and the ack is heard once.
    listener_.heard.clear();
    listener_.takes_short_sends = false;
    EXPECT_TRUE(short_send(8, before + 4));
    EXPECT_EQ(flush(), kSendBytes);
    EXPECT_THAT(listener_.heard, ElementsAre(ack_of(4), "message 8"));
  }
}

TEST_F(RidingAck, AShortSendThatIsNotTakenLeavesNothingBehind) {
  EXPECT_FALSE(short_send(9000, 1)) << "it goes from where it lies";
  EXPECT_FALSE(short_send(8, std::uint64_t{1} << 40)) << "the field of the header is too small for this ack";
  EXPECT_TRUE(stream_.is_flushed());
  EXPECT_TRUE(short_send(8, 1));
  EXPECT_EQ(flush(), kSendBytes);
  EXPECT_THAT(listener_.heard, ElementsAre("ack 1", "message 8"));
  start(false, false);
  EXPECT_FALSE(short_send(8, 2)) << "no ack rides here";
  EXPECT_TRUE(short_send(8));
}

// The void mark, and a CRC that is wrong, are seen before the sink may take the send.
TEST_F(RidingAck, AShortSendThatIsVoidOrDamagedIsNotTaken) {
  listener_.takes_short_sends = true;
  inbound_.start({.knows_notes = true, .knows_voids = true, .acks_ride = true});
  EXPECT_TRUE(short_send(8));
  const auto sent = stream_.waiting_bytes();
  std::vector<std::byte> fpdu(sent.begin(), sent.end());
  std::fill(fpdu.end() - kCrcSize, fpdu.end(), std::byte{0xff});
  ASSERT_EQ(::send(sockets_.writer.get(), fpdu.data(), fpdu.size(), 0), static_cast<ssize_t>(fpdu.size()));
  inbound_.read(sockets_.reader.get(), 1 << 20);
  EXPECT_THAT(listener_.heard, ElementsAre());
  Inbound checked(pool_, listener_);
  checked.start({.has_crc = true, .knows_notes = true, .acks_ride = true});
  ASSERT_EQ(::send(sockets_.writer.get(), fpdu.data(), fpdu.size(), 0), static_cast<ssize_t>(fpdu.size()));
  EXPECT_EQ(checked.read(sockets_.reader.get(), 1 << 20).status, ReadStatus::kFault);
  EXPECT_THAT(listener_.heard, ElementsAre());
}

// A send in two pieces, and one that comes out of its turn.
TEST_F(RidingAck, AShortSendThatIsNotWholeOrNotTheNextIsNotTaken) {
  listener_.takes_short_sends = true;
  EXPECT_TRUE(short_send(8, 1));
  const auto sent = stream_.waiting_bytes();
  const std::vector<std::byte> fpdu(sent.begin(), sent.end());
  for (const std::byte& byte : fpdu) {
    ASSERT_EQ(::send(sockets_.writer.get(), &byte, 1, 0), 1);
    EXPECT_EQ(inbound_.read(sockets_.reader.get(), 1 << 20).status, ReadStatus::kDrained);
  }
  EXPECT_THAT(listener_.heard, ElementsAre("ack 1", "message 8"));
  ASSERT_EQ(::send(sockets_.writer.get(), fpdu.data(), fpdu.size(), 0), static_cast<ssize_t>(fpdu.size()));
  EXPECT_EQ(inbound_.read(sockets_.reader.get(), 1 << 20).status, ReadStatus::kFault) << "it has come before";
  EXPECT_THAT(listener_.heard, ElementsAre("ack 1", "message 8"));
}

TEST_F(RidingAck, ASinkThatStopsAtTheAckHearsNothingMore) {
  listener_.last_word = "ack 9";
  ack(9);
  message(Opcode::kSend, 8);
  flush();
  EXPECT_THAT(listener_.heard, ElementsAre("ack 9"));
}

}  // namespace
}  // namespace softdat::transport::tcp
