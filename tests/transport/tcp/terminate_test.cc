// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/terminate.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/scarce_memory.h"
#include "tests/transport/tcp/bytes.h"
#include "transport/tcp/fault.h"

namespace softdat::transport::tcp {
namespace {

Bytes encode(const Terminate& terminate) {
  Bytes bytes(kMaxTerminateSize);
  bytes.resize(encode_terminate(terminate, bytes.data()));
  return bytes;
}

const Bytes kWriteHead = hex("c1 40 11223344 5566778899aabbcc");
const Bytes kSendHead = hex("41 43 00000000 00000000 00000003 00000000");
const Bytes kReadHead = hex("41 41 00000000 00000001 00000001 00000000");
const Bytes kReadBody = hex("a1a2a3a4 b1b2b3b4b5b6b7b8 00001000 c1c2c3c4 d1d2d3d4d5d6d7d8");

TEST(Terminate, OfTheLowerLayerQuotesNothing) {
  const Terminate terminate = make_terminate(fault::kCrc, 14, kWriteHead);
  EXPECT_EQ(to_hex(encode(terminate)), "20 02 00 00");
}

TEST(Terminate, OfALocalErrorQuotesNothing) {
  EXPECT_EQ(to_hex(encode(make_terminate(fault::kLocalCatastrophic, 14, kWriteHead))), "00 00 00 00");
}

TEST(Terminate, WithoutASegmentQuotesNothing) {
  EXPECT_EQ(to_hex(encode(make_terminate({1, 1, 0}, 0, {}))), "11 00 00 00");
}

// The owner of the connection has ended its side already, so the Terminate must go out.
TEST(Terminate, WithoutMemoryQuotesNothing) {
  Bytes head = kReadHead;
  head.insert(head.end(), kReadBody.begin(), kReadBody.end());
  for (int allocations = 0; allocations < 2; ++allocations) {
    scarce_memory::allocations_left = allocations;
    const Terminate terminate = make_terminate({1, 1, 0}, 46, head);
    scarce_memory::allocations_left = -1;
    EXPECT_EQ(to_hex(encode(terminate)), "11 00 00 00");
  }
}

TEST(Terminate, OfATaggedErrorQuotesTheTaggedHeader) {
  EXPECT_EQ(to_hex(encode(make_terminate({1, 1, 0}, 114, kWriteHead))), "11 00 c0 00 00 72 " + to_hex(kWriteHead));
}

TEST(Terminate, OfAnUntaggedErrorQuotesTheUntaggedHeader) {
  EXPECT_EQ(to_hex(encode(make_terminate({1, 2, 2}, 18, kSendHead))), "12 02 c0 00 00 12 " + to_hex(kSendHead));
}

TEST(Terminate, OfAReadRequestQuotesItToo) {
  EXPECT_EQ(to_hex(encode(make_terminate({0, 1, 0}, 46, kReadHead + kReadBody))),
            "01 00 e0 00 00 2e " + to_hex(kReadHead) + " " + to_hex(kReadBody));
}

TEST(Terminate, ComesBackWhole) {
  for (const Bytes& head : {Bytes{}, kWriteHead, kSendHead, kReadHead + kReadBody}) {
    for (const TerminateCode code : {TerminateCode{0, 1, 2}, TerminateCode{1, 2, 5}, TerminateCode{2, 0, 2}}) {
      const Terminate terminate = make_terminate(code, 99, head);
      EXPECT_EQ(decode_terminate(encode(terminate)), terminate);
    }
  }
}

TEST(Terminate, LinuxsWayOfWritingItIsUnderstoodWhereItShows) {
  // Seen on the wire: layer and type swapped, HdrCt in the low bits.
  EXPECT_EQ(decode_terminate(hex("21 02 03 00") + hex("0012") + kSendHead).code, (TerminateCode{1, 2, 2}));
  EXPECT_EQ(decode_terminate(hex("10 00 07 00") + hex("002e") + kReadHead + kReadBody).code, (TerminateCode{0, 1, 0}));
}

TEST(Terminate, AQuotationCutShortIsLeftOut) {
  const Bytes whole = hex("01 00 e0 00 00 2e") + kReadHead + kReadBody;
  for (std::size_t length = 4; length < whole.size(); ++length) {
    const Terminate terminate = decode_terminate(std::span(whole).first(length));
    EXPECT_EQ(terminate.code, (TerminateCode{0, 1, 0}));
    EXPECT_TRUE(terminate.rdmap_header.empty()) << length;
  }
}

TEST(Terminate, AnyBytesDecode) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 100000; ++i) {
    Bytes bytes(4 + random() % 70);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    EXPECT_LE(decode_terminate(bytes).code.layer, 15);
  }
}

}  // namespace
}  // namespace softdat::transport::tcp
