// SPDX-License-Identifier: BSD-2-Clause
// Records: what is encoded decodes to the same; anything else decodes to nothing, and never crashes.
#include "transport/shm/record.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace softdat::transport::shm {
namespace {

std::span<const std::byte> as_bytes(const MessageHead& head) {
  return std::as_bytes(std::span(head.words).first(head.count));
}

Message make_message(Opcode opcode) {
  Message message;
  message.opcode = opcode;
  message.length = 0xfedcba98;
  return message;
}

TEST(RecordTest, WordsPackAndUnpack) {
  const RecordWord word{.bytes = 0xabcdef, .kind = RecordKind::kMore, .channel = 0x98765432};
  const RecordWord back = unpack(pack(word));
  EXPECT_EQ(back.bytes, word.bytes);
  EXPECT_EQ(back.kind, word.kind);
  EXPECT_EQ(back.channel, word.channel);
  EXPECT_NE(pack({.bytes = 8, .kind = RecordKind::kConnect, .channel = 0}), 0u);
}

TEST(RecordTest, HeadsOfEveryOpcodeSurvive) {
  for (int code = 0; code <= 0x12; ++code) {
    const auto opcode = static_cast<Opcode>(code);
    if (opcode == Opcode::kTerminate || (code > 0xB && code < 0x10)) continue;
    const auto acks = static_cast<std::uint16_t>(0xfff0 + code);
    const MessageHead head = encode_head(make_message(opcode), acks);
    Message message;
    const auto decoded = decode_head(as_bytes(head), message);
    ASSERT_TRUE(decoded) << code;
    EXPECT_EQ(decoded->bytes, head.bytes());
    EXPECT_EQ(message.opcode, opcode);
    EXPECT_EQ(message.length, 0xfedcba98u);
    EXPECT_EQ(decoded->acks, acks);
    for (std::size_t less = 1; less <= head.bytes(); ++less) {
      EXPECT_FALSE(decode_head(as_bytes(head).first(head.bytes() - less), message));
    }
  }
}

TEST(RecordTest, WhatIsNoMessageDecodesToNothing) {
  for (const int code : {0x7, 0xC, 0xF, 0x13, 0xff}) {
    std::array<std::uint64_t, MessageHead::kMostWords> words{};
    words[0] = static_cast<std::uint64_t>(code);
    Message message;
    EXPECT_FALSE(decode_head(std::as_bytes(std::span(words)), message)) << code;
  }
  for (const int note : {0, 7, 255}) {
    std::array<std::uint64_t, 2> words{};
    words[0] = 0x10u | static_cast<std::uint64_t>(note) << 8;
    Message message;
    EXPECT_FALSE(decode_head(std::as_bytes(std::span(words)), message)) << note;
  }
}

TEST(RecordTest, OffersSurvive) {
  Offer offer{.address = {.ipv4 = 0x0a0b0c0d, .port = 65535},
              .service_id = ~0ull,
              .features = 7,
              .ird = 1,
              .ord = 2,
              .private_data = Bytes(kMaxPrivateData, std::byte{0x5a})};
  const auto back = decode_offer(encode_offer(offer));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->address, offer.address);
  EXPECT_EQ(back->service_id, offer.service_id);
  EXPECT_EQ(back->features, offer.features);
  EXPECT_EQ(back->ird, offer.ird);
  EXPECT_EQ(back->ord, offer.ord);
  EXPECT_EQ(back->private_data, offer.private_data);
  Bytes longer = encode_offer(offer);
  longer.push_back({});
  EXPECT_FALSE(decode_offer(longer));
}

TEST(RecordTest, RefusalsSurviveAndUnknownReasonsDoNot) {
  const RefusalNotice notice{.reason = Refusal::kByConsumer, .is_stale = true, .private_data = Bytes(3, std::byte{1})};
  Bytes bytes = encode_refusal(notice);
  const auto back = decode_refusal(bytes);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->reason, notice.reason);
  EXPECT_TRUE(back->is_stale);
  EXPECT_EQ(back->private_data, notice.private_data);
  bytes[0] = std::byte{200};
  EXPECT_FALSE(decode_refusal(bytes));
}

TEST(RecordTest, AnyBytesDecodeToSomethingOrNothing) {
  std::mt19937_64 random(1);
  std::size_t decoded = 0;
  for (int i = 0; i < 200000; ++i) {
    Bytes bytes(random() % 200);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    if (!bytes.empty()) bytes[0] = static_cast<std::byte>(random() % 18);
    Message message;
    decoded += decode_head(bytes, message).has_value() + decode_offer(bytes).has_value() +
               decode_refusal(bytes).has_value() + decode_terminate(bytes).has_value();
  }
  EXPECT_GT(decoded, 0u);
}

}  // namespace
}  // namespace softdat::transport::shm
