// SPDX-License-Identifier: BSD-2-Clause
// Heads and bodies of every message, byte for byte.
#include "transport/tcp/segment.h"

#include <gtest/gtest.h>

#include "tests/transport/tcp/bytes.h"
#include "transport/tcp/fault.h"
#include "transport/tcp/message_body.h"
#include "transport/tcp/opcode_table.h"

namespace softdat::transport::tcp {
namespace {

Bytes encode(const Segment& segment) {
  Bytes bytes(kUntaggedHeadSize);
  bytes.resize(encode_segment(segment, bytes.data()));
  return bytes;
}

Bytes encode(const Message& message) {
  Bytes bytes(64);
  bytes.resize(encode_body(message, bytes.data()));
  return bytes;
}

TerminateCode fault_of(std::uint16_t length, const Bytes& control) {
  const auto shape = decode_shape(length, control);
  EXPECT_FALSE(shape.ok());
  return shape.ok() ? TerminateCode{} : shape.reason();
}

TEST(Segment, AWrite) {
  const Segment segment{.opcode = Opcode::kWrite, .is_last = true, .stag = 0x11223344, .offset = 0x5566778899aabbcc};
  EXPECT_EQ(to_hex(encode(segment)), "c1 40 11 22 33 44 55 66 77 88 99 aa bb cc");
}

TEST(Segment, AReadResponseThatIsNotTheLast) {
  const Segment segment{.opcode = Opcode::kReadResponse, .is_last = false, .stag = 1, .offset = 2};
  EXPECT_EQ(to_hex(encode(segment)), "81 42 00 00 00 01 00 00 00 00 00 00 00 02");
}

TEST(Segment, ASend) {
  const Segment segment{.opcode = Opcode::kSend, .queue = 0, .sequence = 3, .message_offset = 0x100};
  EXPECT_EQ(to_hex(encode(segment)), "41 43 00 00 00 00 00 00 00 00 00 00 00 03 00 00 01 00");
}

TEST(Segment, ASendWithSolicitedEventAndInvalidate) {
  const Segment segment{.opcode = Opcode::kSendSolicitedInvalidate, .stag = 0xfedcba98, .sequence = 1};
  EXPECT_EQ(to_hex(encode(segment)), "41 46 fe dc ba 98 00 00 00 00 00 00 00 01 00 00 00 00");
}

TEST(Segment, EveryOpcodeDecodesToWhatWasEncoded) {
  for (std::uint8_t code = 0; code <= 0xb; ++code) {
    const auto opcode = static_cast<Opcode>(code);
    const OpcodeRow& row = row_of(opcode);
    Segment segment{.opcode = opcode, .is_last = code % 2 == 0, .stag = 0x80000001};
    if (row.is_tagged) {
      segment.offset = 0x8000000000000002;
    } else {
      segment.queue = row.queue;
      segment.sequence = 0x80000003;
      segment.message_offset = 0x80000004;
    }
    const Bytes bytes = encode(segment);
    const auto length = static_cast<std::uint16_t>(bytes.size() + row.body_size);
    const auto shape = decode_shape(length, bytes);
    ASSERT_TRUE(shape.ok()) << int{code};
    EXPECT_EQ(shape.value().ddp_size, bytes.size());
    EXPECT_EQ(shape.value().body_size, row.body_size);
    EXPECT_EQ(shape.value().payload, 0u);
    EXPECT_EQ(decode_segment(shape.value(), bytes), segment) << int{code};
  }
}

TEST(Segment, BadControlBytesHaveTheirCodes) {
  EXPECT_EQ(fault_of(14, hex("c2 40")), fault::kTaggedVersion);
  EXPECT_EQ(fault_of(18, hex("40 43")), fault::kUntaggedVersion);
  EXPECT_EQ(fault_of(18, hex("41 83")), fault::kRdmapVersion);
  EXPECT_EQ(fault_of(18, hex("41 4c")), fault::kUnexpectedOpcode);
  EXPECT_EQ(fault_of(18, hex("41 40")), fault::kUnexpectedOpcode) << "an untagged Write";
  EXPECT_EQ(fault_of(18, hex("c1 43")), fault::kUnexpectedOpcode) << "a tagged Send";
}

TEST(Segment, LengthsThatCannotBeHaveTheirCode) {
  EXPECT_EQ(fault_of(0, hex("c1 40")), fault::kLength);
  EXPECT_EQ(fault_of(1, hex("c1 40")), fault::kLength);
  EXPECT_EQ(fault_of(13, hex("c1 40")), fault::kLength);
  EXPECT_EQ(fault_of(17, hex("41 43")), fault::kLength);
  EXPECT_EQ(fault_of(45, hex("41 41")), fault::kLength) << "a Read Request is 46 bytes";
  EXPECT_EQ(fault_of(47, hex("41 41")), fault::kLength);
  EXPECT_EQ(fault_of(21, hex("41 47")), fault::kLength);
  EXPECT_EQ(fault_of(18 + 129, hex("41 47")), fault::kLength);
  EXPECT_EQ(fault_of(18 + 9, hex("41 48")), fault::kLength);
  EXPECT_EQ(fault_of(18 + 53, hex("41 4a")), fault::kLength);
}

TEST(MessageBody, AReadRequest) {
  const Message message{.opcode = Opcode::kReadRequest,
                        .length = 0x1000,
                        .stag = 0xa1a2a3a4,
                        .offset = 0xb1b2b3b4b5b6b7b8,
                        .source_stag = 0xc1c2c3c4,
                        .source_offset = 0xd1d2d3d4d5d6d7d8};
  EXPECT_EQ(to_hex(encode(message)),
            "a1 a2 a3 a4 b1 b2 b3 b4 b5 b6 b7 b8 00 00 10 00 c1 c2 c3 c4 d1 d2 d3 d4 d5 d6 d7 d8");
}

TEST(MessageBody, AnAtomicRequest) {
  const Message message{.opcode = Opcode::kAtomicRequest,
                        .source_stag = 3,
                        .source_offset = 4,
                        .request_id = 2,
                        .atomic_code = 2,
                        .operand = 5,
                        .operand_mask = 6,
                        .compare = 7,
                        .compare_mask = 8};
  EXPECT_EQ(to_hex(encode(message)),
            "00 00 00 02 00 00 00 02 00 00 00 03 00 00 00 00 00 00 00 04 00 00 00 00 00 00 00 05 "
            "00 00 00 00 00 00 00 06 00 00 00 00 00 00 00 07 00 00 00 00 00 00 00 08");
}

TEST(MessageBody, AnAtomicResponseAndImmediateData) {
  EXPECT_EQ(to_hex(encode(Message{.opcode = Opcode::kAtomicResponse, .request_id = 9, .operand = 0x0102030405060708})),
            "00 00 00 09 01 02 03 04 05 06 07 08");
  EXPECT_EQ(to_hex(encode(Message{.opcode = Opcode::kImmediate, .operand = 0x0102030405060708})),
            "01 02 03 04 05 06 07 08");
}

TEST(MessageBody, OtherMessagesHaveNone) {
  for (const Opcode opcode : {Opcode::kWrite, Opcode::kReadResponse, Opcode::kSend, Opcode::kSendInvalidate}) {
    EXPECT_TRUE(encode(Message{.opcode = opcode, .length = 77}).empty());
  }
}

TEST(MessageBody, EveryFieldComesBack) {
  const Message message{.opcode = Opcode::kReadRequest,
                        .length = ~0u,
                        .stag = 0x80000001,
                        .offset = 1ull << 63,
                        .source_stag = 0x80000002,
                        .source_offset = (1ull << 63) + 1};
  Message back{.opcode = Opcode::kReadRequest};
  decode_body(encode(message), back);
  EXPECT_EQ(encode(back), encode(message));
  EXPECT_EQ(back.length, message.length);
  EXPECT_EQ(back.stag, message.stag);
  EXPECT_EQ(back.offset, message.offset);
  EXPECT_EQ(back.source_stag, message.source_stag);
  EXPECT_EQ(back.source_offset, message.source_offset);
}

}  // namespace
}  // namespace softdat::transport::tcp
