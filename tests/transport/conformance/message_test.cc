// SPDX-License-Identifier: BSD-2-Clause
// What an established channel promises about messages.
#include <random>

#include "tests/transport/conformance/carrier_test.h"

namespace softdat::transport::conformance {
namespace {

class MessageTest : public CarrierTest {
 protected:
  void SetUp() override {
    CarrierTest::SetUp();
    connect(active_, passive_);
  }
  bool reach_messages(const Peer& peer, std::size_t count) {
    return reach([&peer, count] { return peer.messages.size() >= count; });
  }

  Peer active_;
  Peer passive_;
};
INSTANTIATE_TEST_SUITE_P(All, MessageTest, testing::ValuesIn(worlds()), name_of);

Message send_of(std::size_t length) {
  return {.opcode = Opcode::kSend, .length = static_cast<std::uint32_t>(length)};
}

TEST_P(MessageTest, UntaggedHeadsSurvive) {
  for (const Opcode opcode : {Opcode::kSend, Opcode::kSendSolicited}) {
    active_.queue({.opcode = opcode, .length = 3}, to_bytes("abc"));
  }
  for (const Opcode opcode : {Opcode::kSendInvalidate, Opcode::kSendSolicitedInvalidate}) {
    active_.queue({.opcode = opcode, .length = 2, .stag = 0xfedcba98}, to_bytes("xy"));
  }
  ASSERT_TRUE(reach_messages(passive_, 4));
  EXPECT_EQ(passive_.messages[0].message.opcode, Opcode::kSend);
  EXPECT_EQ(passive_.messages[0].message.length, 3u);
  EXPECT_EQ(passive_.messages[1].message.opcode, Opcode::kSendSolicited);
  EXPECT_EQ(passive_.messages[2].message.opcode, Opcode::kSendInvalidate);
  EXPECT_EQ(passive_.messages[2].message.stag, 0xfedcba98u);
  EXPECT_EQ(passive_.messages[3].message.opcode, Opcode::kSendSolicitedInvalidate);
  EXPECT_EQ(passive_.messages[3].message.stag, 0xfedcba98u);
  EXPECT_EQ(passive_.messages[3].text(), "xy");
}

TEST_P(MessageTest, TaggedHeadsSurviveAndEachRunKnowsItsPlace) {
  for (const Opcode opcode : {Opcode::kWrite, Opcode::kReadResponse}) {
    passive_.messages.clear();
    passive_.before_place = [&](const Arrival& arrival) {
      EXPECT_EQ(arrival.opcode, opcode);
      EXPECT_EQ(arrival.stag, 0x89abcdefu);
      EXPECT_EQ(arrival.offset, 0xfedc'ba98'7654'0000u + arrival.message_offset);
    };
    active_.queue({.opcode = opcode, .length = 70000, .stag = 0x89abcdef, .offset = 0xfedc'ba98'7654'0000},
                  make_pattern(70000));
    ASSERT_TRUE(reach_messages(passive_, 1));
    EXPECT_EQ(passive_.messages[0].message.opcode, opcode);
    EXPECT_EQ(passive_.messages[0].message.length, 70000u);
    EXPECT_EQ(passive_.messages[0].message.stag, 0x89abcdefu);
    EXPECT_EQ(passive_.messages[0].message.offset, 0xfedc'ba98'7654'0000u);
    EXPECT_EQ(passive_.messages[0].bytes, make_pattern(70000));
  }
}

TEST_P(MessageTest, ReadRequestsSurvive) {
  active_.queue({.opcode = Opcode::kReadRequest,
                 .length = 0xfffffff0,
                 .stag = 0x80000001,
                 .offset = 0x8000'0000'0000'0002,
                 .source_stag = 0x80000003,
                 .source_offset = 0x8000'0000'0000'0004});
  ASSERT_TRUE(reach_messages(passive_, 1));
  const Message& got = passive_.messages[0].message;
  EXPECT_EQ(got.opcode, Opcode::kReadRequest);
  EXPECT_EQ(got.length, 0xfffffff0u);
  EXPECT_EQ(got.stag, 0x80000001u);
  EXPECT_EQ(got.offset, 0x8000'0000'0000'0002u);
  EXPECT_EQ(got.source_stag, 0x80000003u);
  EXPECT_EQ(got.source_offset, 0x8000'0000'0000'0004u);
}

TEST_P(MessageTest, AtomicsSurvive) {
  active_.queue({.opcode = Opcode::kAtomicRequest,
                 .source_stag = 0x80000003,
                 .source_offset = 0x8000'0000'0000'0008,
                 .request_id = 0x80000005,
                 .atomic_code = 1,
                 .operand = 0x8000'0000'0000'0006,
                 .operand_mask = 0x8000'0000'0000'0007,
                 .compare = 0x8000'0000'0000'0009,
                 .compare_mask = 0x8000'0000'0000'000a});
  active_.queue({.opcode = Opcode::kAtomicResponse, .request_id = 0x80000005, .operand = 0x8000'0000'0000'000b});
  ASSERT_TRUE(reach_messages(passive_, 2));
  const Message& request = passive_.messages[0].message;
  EXPECT_EQ(request.opcode, Opcode::kAtomicRequest);
  EXPECT_EQ(request.source_stag, 0x80000003u);
  EXPECT_EQ(request.source_offset, 0x8000'0000'0000'0008u);
  EXPECT_EQ(request.request_id, 0x80000005u);
  EXPECT_EQ(request.atomic_code, 1u);
  EXPECT_EQ(request.operand, 0x8000'0000'0000'0006u);
  EXPECT_EQ(request.operand_mask, 0x8000'0000'0000'0007u);
  EXPECT_EQ(request.compare, 0x8000'0000'0000'0009u);
  EXPECT_EQ(request.compare_mask, 0x8000'0000'0000'000au);
  const Message& response = passive_.messages[1].message;
  EXPECT_EQ(response.opcode, Opcode::kAtomicResponse);
  EXPECT_EQ(response.request_id, 0x80000005u);
  EXPECT_EQ(response.operand, 0x8000'0000'0000'000bu);
}

TEST_P(MessageTest, ImmediatesAndNotesSurvive) {
  active_.queue({.opcode = Opcode::kImmediate, .operand = 0xfedc'ba98'7654'3210});
  active_.queue({.opcode = Opcode::kImmediateSolicited, .operand = 1});
  for (const NoteKind kind : {NoteKind::kAck, NoteKind::kResend, NoteKind::kResent}) {
    active_.queue({.opcode = Opcode::kNote, .note = kind, .note_value = 0x80'0000'0000'000c});
  }
  ASSERT_TRUE(reach_messages(passive_, 5));
  EXPECT_EQ(passive_.messages[0].message.opcode, Opcode::kImmediate);
  EXPECT_EQ(passive_.messages[0].message.operand, 0xfedc'ba98'7654'3210u);
  EXPECT_EQ(passive_.messages[1].message.opcode, Opcode::kImmediateSolicited);
  EXPECT_EQ(passive_.messages[1].message.operand, 1u);
  EXPECT_EQ(passive_.messages[2].message.note, NoteKind::kAck);
  EXPECT_EQ(passive_.messages[3].message.note, NoteKind::kResend);
  EXPECT_EQ(passive_.messages[4].message.note, NoteKind::kResent);
  EXPECT_EQ(passive_.messages[4].message.note_value, 0x80'0000'0000'000cu);
}

// Carriers may let an ack ride with the message behind it; neither its value nor the order may suffer.
TEST_P(MessageTest, AcksKeepTheirPlaceBetweenOtherMessages) {
  const std::vector<std::uint64_t> acks{1, 2, 2, 0x1'0001, 0x1'0002, 5, 0, 6};
  for (const std::uint64_t value : acks) {
    ASSERT_EQ(active_.channel->send({.opcode = Opcode::kNote, .note_value = value}, nullptr), SendResult::kDone);
    if (value % 2 != 0) continue;
    ASSERT_EQ(active_.channel->send({.opcode = Opcode::kImmediate, .operand = value}, nullptr), SendResult::kDone);
  }
  active_.channel->close(CloseMode::kOrderly);
  ASSERT_TRUE(reach_messages(passive_, acks.size() + 5));
  std::size_t at = 0;
  for (const std::uint64_t value : acks) {
    EXPECT_EQ(passive_.messages[at].message.opcode, Opcode::kNote);
    EXPECT_EQ(passive_.messages[at++].message.note_value, value);
    if (value % 2 != 0) continue;
    EXPECT_EQ(passive_.messages[at].message.opcode, Opcode::kImmediate);
    EXPECT_EQ(passive_.messages[at++].message.operand, value);
  }
}

// Whether the sender goes the short way or not, and the sink or not: what arrives is the same, in the same order.
TEST_P(MessageTest, BriefsArriveAsOtherSendsDo) {
  const std::vector<std::string> texts{"brief", "", "another", std::string(5000, 'x'), "last"};
  for (const bool is_taken : {true, false}) {
    passive_.takes_short_sends = is_taken;
    passive_.messages.clear();
    for (const std::string& text : texts) {
      active_.send_short(text);
      active_.queue_send("other");
    }
    ASSERT_TRUE(reach_messages(passive_, 2 * texts.size()));
    for (std::size_t i = 0; i < texts.size(); ++i) {
      EXPECT_EQ(passive_.messages[2 * i].message.opcode, Opcode::kSend);
      EXPECT_EQ(passive_.messages[2 * i].text(), texts[i]);
      EXPECT_EQ(passive_.messages[2 * i + 1].text(), "other");
    }
  }
  // The other sends, too, come in whole, but where a read of a socket ends within them.
  const ShortSends kind = active_.channel->short_sends();
  const int all = 2 * static_cast<int>(texts.size());
  EXPECT_EQ(passive_.short_send_count > 0, kind != ShortSends::kNone);
  EXPECT_LE(passive_.short_send_count, all);
  if (kind == ShortSends::kWithoutBaton) {
    EXPECT_EQ(passive_.short_send_count, all);
  }
}

TEST_P(MessageTest, WhatABriefAcknowledgesIsHeardBeforeIt) {
  // The most that can ride with a message over shm, behind an ack of 10; and one more than that.
  constexpr std::uint64_t kMost = 10 + 0xffff, kTooMany = kMost + 1 + 0x1'0000;
  const std::vector<std::uint64_t> acks{3, 3, 5, 0x2'0000, 4, 9, kMost, kTooMany};
  for (const bool is_taken : {true, false}) {
    passive_.takes_short_sends = is_taken;
    passive_.messages.clear();
    for (const std::uint64_t value : acks) {
      active_.send_short("brief", value);
      ASSERT_EQ(active_.channel->send({.opcode = Opcode::kNote, .note_value = value + 1}, nullptr), SendResult::kDone);
      active_.send_short("behind");
    }
    ASSERT_TRUE(reach_messages(passive_, 4 * acks.size()));
    for (std::size_t i = 0; i < acks.size(); ++i) {
      EXPECT_EQ(passive_.messages[4 * i].message.note_value, acks[i]);
      EXPECT_EQ(passive_.messages[4 * i + 1].text(), "brief");
      EXPECT_EQ(passive_.messages[4 * i + 2].message.note_value, acks[i] + 1);
      EXPECT_EQ(passive_.messages[4 * i + 3].text(), "behind");
    }
  }
}

TEST_P(MessageTest, AnEmptyMessageAsksForAPlaceOnce) {
  passive_.before_place = [&](const Arrival& arrival) {
    EXPECT_EQ(arrival.length, 0u);
    EXPECT_TRUE(arrival.first);
    EXPECT_EQ(passive_.place_count, 1);
  };
  active_.queue(send_of(0));
  active_.queue({.opcode = Opcode::kWrite, .stag = 5, .offset = 6});
  active_.queue(send_of(0));
  ASSERT_TRUE(reach_messages(passive_, 3));
  EXPECT_EQ(passive_.messages[1].message.stag, 5u);
}

TEST_P(MessageTest, PayloadsOfEverySizeArriveWholeInOrderBothWays) {
  const std::vector<std::size_t> sizes = {0,     1,     2,     63,     64, 65, 1023, 1024,     4095,           4097,
                                          65535, 65536, 65537, 100000, 1,  0,  7,    1u << 20, (3u << 20) + 1, 5};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    active_.queue(send_of(sizes[i]), make_pattern(sizes[i], i));
    passive_.queue(send_of(sizes[i]), make_pattern(sizes[i], i + 100));
  }
  ASSERT_TRUE(reach_messages(passive_, sizes.size()));
  ASSERT_TRUE(reach_messages(active_, sizes.size()));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_TRUE(passive_.messages[i].bytes == make_pattern(sizes[i], i)) << sizes[i];
    EXPECT_TRUE(active_.messages[i].bytes == make_pattern(sizes[i], i + 100)) << sizes[i];
  }
}

TEST_P(MessageTest, OddSlicesOnBothSidesLoseNothing) {
  active_.max_slice = 77;
  active_.max_slices = 3;
  passive_.max_slice = 13;
  passive_.max_slices = SliceList::kCapacity;
  for (std::size_t i = 0; i < 40; ++i) {
    active_.queue(send_of(i * i * 7), make_pattern(i * i * 7, i));
  }
  ASSERT_TRUE(reach_messages(passive_, 40));
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_TRUE(passive_.messages[i].bytes == make_pattern(i * i * 7, i)) << i;
  }
}

TEST_P(MessageTest, ARandomMixKeepsItsOrder) {
  std::mt19937_64 random(7);
  std::vector<Message> sent;
  for (int i = 0; i < 500; ++i) {
    const std::size_t length = random() % (random() % 8 == 0 ? 30000 : 200);
    switch (random() % 4) {
      case 0:
        sent.push_back(send_of(length));
        break;
      case 1:
        sent.push_back({.opcode = Opcode::kWrite,
                        .length = static_cast<std::uint32_t>(length),
                        .stag = static_cast<std::uint32_t>(i),
                        .offset = random()});
        break;
      case 2:
        sent.push_back({.opcode = Opcode::kImmediate, .operand = static_cast<std::uint64_t>(i)});
        break;
      default:
        sent.push_back({.opcode = Opcode::kNote, .note_value = static_cast<std::uint64_t>(i)});
    }
    active_.queue(sent.back(), make_pattern(payload_length(sent.back()), i));
  }
  ASSERT_TRUE(reach_messages(passive_, sent.size()));
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const Received& got = passive_.messages[i];
    ASSERT_EQ(got.message.opcode, sent[i].opcode) << i;
    EXPECT_EQ(got.message.stag, sent[i].stag);
    EXPECT_EQ(got.message.offset, sent[i].offset);
    EXPECT_EQ(got.message.operand, sent[i].operand);
    EXPECT_EQ(got.message.note_value, sent[i].note_value);
    EXPECT_TRUE(got.bytes == make_pattern(payload_length(sent[i]), i)) << i;
  }
}

TEST_P(MessageTest, ABlockedSenderIsToldAndGoesOnWhereItStopped) {
  // More than any carrier buffers while the receiver does nothing: only here() turns at first.
  const std::size_t big = 12u << 20;  // more than the buffers of a TCP connection hold
  const Bytes sent = make_pattern(big, 5);
  active_.queue(send_of(big), sent);
  active_.queue_send("behind");
  ASSERT_GT(active_.blocked_count, 0);
  EXPECT_FALSE(active_.is_drained());
  ASSERT_TRUE(reach_messages(passive_, 2));
  EXPECT_GT(active_.writable_count, 0);
  EXPECT_TRUE(active_.is_drained());
  EXPECT_TRUE(passive_.messages[0].has(sent));
  EXPECT_EQ(passive_.messages[1].text(), "behind");
}

TEST_P(MessageTest, ABlockedChannelHoldsUpNoOther) {
  Peer other_active, other_passive;
  connect(other_active, other_passive);
  const std::size_t big = 24u << 20;
  const Bytes there = make_pattern(big, 5), back = make_pattern(big, 6);
  active_.queue(send_of(big), there);
  passive_.queue(send_of(big), back);
  other_active.queue_send("quick");
  other_passive.queue_send("quick too");
  ASSERT_TRUE(reach_messages(other_passive, 1));
  ASSERT_TRUE(reach_messages(other_active, 1));
  ASSERT_TRUE(reach_messages(passive_, 1));
  ASSERT_TRUE(reach_messages(active_, 1));
  EXPECT_TRUE(passive_.messages[0].has(there));
  EXPECT_TRUE(active_.messages[0].has(back));
}

TEST_P(MessageTest, DiscardedPayloadIsSkippedAndTheNextMessageIsWhole) {
  passive_.discards = true;
  passive_.after_message = [&] { passive_.discards = passive_.messages.size() < 2; };
  active_.queue(send_of(200000), make_pattern(200000));
  active_.queue({.opcode = Opcode::kWrite, .length = 100, .stag = 1}, make_pattern(100));
  active_.queue_send("kept");
  ASSERT_TRUE(reach_messages(passive_, 3));
  EXPECT_EQ(passive_.messages[0].message.length, 200000u);
  EXPECT_TRUE(passive_.messages[0].bytes.empty());
  EXPECT_EQ(passive_.messages[2].text(), "kept");
}

TEST_P(MessageTest, DiscardingMayBeginInTheMiddleOfAMessage) {
  passive_.max_slice = 1000;
  passive_.max_slices = 1;
  passive_.before_place = [&](const Arrival& arrival) { passive_.discards = arrival.message_offset >= 50000; };
  active_.queue(send_of(200000), make_pattern(200000));
  active_.queue_send("kept");
  ASSERT_TRUE(reach_messages(passive_, 2));
  EXPECT_EQ(passive_.messages[1].text(), "kept");
}

// A program that polls the tail of a buffer sees every byte before it; see also base's own test.
TEST_P(MessageTest, PayloadIsPlacedInAscendingOrder) {
  std::uint64_t last_end = 0;
  passive_.before_place = [&](const Arrival& arrival) {
    EXPECT_EQ(arrival.message_offset, last_end);
    // What was placed before is complete by the time the next place is asked for.
    last_end = arrival.message_offset + std::min<std::size_t>(arrival.length, 4 * 500);
  };
  passive_.max_slice = 500;
  active_.queue({.opcode = Opcode::kWrite, .length = 300000, .stag = 1}, make_pattern(300000));
  ASSERT_TRUE(reach_messages(passive_, 1));
  EXPECT_EQ(last_end, 300000u);
}

TEST_P(MessageTest, SendingFromWithinOnMessagePingPongs) {
  active_.after_message = [&] {
    if (active_.messages.size() < 200) active_.queue_send("ping");
  };
  passive_.after_message = [&] { passive_.queue_send("pong"); };
  active_.queue_send("ping");
  ASSERT_TRUE(reach_messages(active_, 200));
  EXPECT_EQ(passive_.messages.size(), 200u);
}

TEST_P(MessageTest, OtherChannelsMayBeDestroyedFromWithinAnyCallback) {
  auto other_active = std::make_unique<Peer>();
  auto other_passive = std::make_unique<Peer>();
  connect(*other_active, *other_passive);
  passive_.before_place = [&](const Arrival&) { other_passive.reset(); };
  other_active->queue_send("to somebody who is going");
  active_.queue_send("fatal to the other");
  other_active->queue_send("to somebody who has gone");
  ASSERT_TRUE(reach_messages(passive_, 1));
  ASSERT_TRUE(reach([&] { return !other_active->closings.empty(); }));
  EXPECT_EQ(other_active->closings, std::vector{CloseReason::kBye});
}

TEST_P(MessageTest, AnIdleWorldReportsNothingDone) {
  active_.queue_send("one");
  ASSERT_TRUE(reach_messages(passive_, 1));
  settle();
  EXPECT_EQ(world_->turn(), 0u);
}

}  // namespace
}  // namespace softdat::transport::conformance
