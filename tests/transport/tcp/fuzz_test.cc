// SPDX-License-Identifier: BSD-2-Clause
// Random bytes and randomly spoiled streams: any bytes in, messages or a fault out.
#include <gtest/gtest.h>

#include <random>

#include "tests/transport/tcp/bytes.h"
#include "tests/transport/tcp/inbound_harness.h"
#include "tests/transport/tcp/one_of_everything.h"
#include "transport/tcp/fault.h"

namespace softdat::transport::tcp {
namespace {

TEST(Fuzz, AValidStreamArrivesHoweverItIsCut) {
  for (const bool has_crc : {false, true}) {
    const Bytes stream = one_of_everything(has_crc);
    for (const std::size_t cut : {1u, 2u, 5u, 16u, 100u, 1023u, 16384u, 100000u}) {
      const HarnessResult result = feed(stream, {.has_crc = has_crc, .knows_notes = true, .expects_rtr = true}, cut);
      EXPECT_EQ(result.status, ReadStatus::kStopped) << cut;
      EXPECT_EQ(result.messages, 14u) << cut;
      EXPECT_EQ(result.payload, 1000u + 20000 + 33 + 5 + 11 + 2 + 3) << cut;
    }
  }
}

TEST(Fuzz, AStreamCutShortEndsQuietly) {
  const Bytes stream = one_of_everything(false);
  for (std::size_t length = 0; length < stream.size(); length += 37) {
    const HarnessResult result = feed(std::span(stream).first(length), {}, 1000);
    EXPECT_EQ(result.status, ReadStatus::kEnd) << length;
  }
}

TEST(Fuzz, WithCrcEveryChangedBitIsCaughtBeforeAnythingIsPlaced) {
  const Bytes good = make_fpdu({.opcode = Opcode::kWrite, .stag = 5, .offset = 100}, Bytes(40), true);
  for (std::size_t bit = 16; bit < good.size() * 8; ++bit) {
    Bytes bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    const HarnessResult result = feed(bad, {.has_crc = true}, 1000);
    ASSERT_EQ(result.status, ReadStatus::kFault) << bit;
    ASSERT_EQ(result.fault, fault::kCrc) << bit;
    ASSERT_EQ(result.payload + result.messages, 0u) << bit;
  }
}

TEST(Fuzz, RandomBytesNeverGetThrough) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 3000; ++i) {
    Bytes bytes(1 + random() % 300);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    feed_any(bytes);
  }
}

TEST(Fuzz, SpoiledStreamsEndInAFaultOrInSilence) {
  std::mt19937_64 random(12);
  for (int i = 0; i < 3000; ++i) {
    const bool has_crc = i % 8 == 0;
    Bytes stream = one_of_everything(has_crc);
    // Mostly where heads are: payload cannot be wrong.
    for (std::uint64_t n = 1 + random() % 3; n > 0; --n) {
      const std::size_t at = random() % 2 == 0 ? random() % 100 : random() % stream.size();
      stream[at] = static_cast<std::byte>(random());
    }
    const HarnessResult result = feed(stream, {.has_crc = has_crc, .knows_notes = true}, 1 + random() % 30000);
    EXPECT_TRUE(result.status == ReadStatus::kFault || result.status == ReadStatus::kEnd ||
                result.status == ReadStatus::kStopped);
  }
}

struct Offence {
  const char* name;
  Bytes stream;
  TerminateCode expected;
};

TEST(Fuzz, EachOffenceHasItsTerminateCode) {
  const auto one = [](const Segment& segment, std::size_t length) { return make_fpdu(segment, Bytes(length), false); };
  const Segment first_half{.opcode = Opcode::kSend, .is_last = false, .sequence = 1};
  const Segment first_write{.opcode = Opcode::kWrite, .is_last = false};
  const std::vector<Offence> offences = {
      {"queue that does not exist", one({.opcode = Opcode::kSend, .queue = 4, .sequence = 1}, 4), {1, 2, 1}},
      {"wrong queue for the opcode", one({.opcode = Opcode::kSend, .queue = 1, .sequence = 1}, 4), {0, 2, 6}},
      {"sequence number skipped", one({.opcode = Opcode::kSend, .sequence = 2}, 4), {1, 2, 3}},
      {"first segment not at 0", one({.opcode = Opcode::kSend, .sequence = 1, .message_offset = 4}, 4), {1, 2, 4}},
      {"hole in a message",
       one(first_half, 10) + one({.opcode = Opcode::kSend, .sequence = 1, .message_offset = 11}, 4),
       {1, 2, 4}},
      {"opcode changed in mid-message",
       one(first_half, 10) + one({.opcode = Opcode::kSendSolicited, .sequence = 1, .message_offset = 10}, 4),
       {0, 2, 6}},
      {"tagged opcode changed in mid-message",
       one(first_write, 10) + one({.opcode = Opcode::kReadResponse}, 4),
       {0, 2, 6}},
      {"tagged offset wraps", one({.opcode = Opcode::kWrite, .offset = ~0ull - 2}, 4), {1, 1, 3}},
      {"read request in parts",
       one({.opcode = Opcode::kReadRequest, .is_last = false, .queue = 1, .sequence = 1}, 28),
       {1, 2, 5}},
      {"immediate within a send",
       one(first_half, 10) + one({.opcode = Opcode::kImmediate, .sequence = 1}, 8),
       {0, 2, 6}},
      {"empty ULPDU", hex("0000 0000 00000000"), {2, 0, 3}},
      {"ULPDU shorter than its head", hex("0005 c140 000000 00 00000000"), {2, 0, 3}},
  };
  for (const Offence& offence : offences) {
    const HarnessResult result = feed(offence.stream, {}, 100000);
    EXPECT_EQ(result.status, ReadStatus::kFault) << offence.name;
    EXPECT_EQ(result.fault, offence.expected) << offence.name;
  }
}

TEST(Fuzz, TheVeryLastByteOfTheAddressSpaceMayBeWritten) {
  const Bytes last = make_fpdu({.opcode = Opcode::kWrite, .offset = ~0ull - 3}, Bytes(4));
  const HarnessResult result = feed(last, {}, 1000);
  EXPECT_EQ(result.status, ReadStatus::kEnd);
  EXPECT_EQ(result.messages, 1u);
}

}  // namespace
}  // namespace softdat::transport::tcp
