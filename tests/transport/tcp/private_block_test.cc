// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/private_block.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/transport/tcp/bytes.h"
#include "transport/tcp/mpa_frame.h"

namespace softdat::transport::tcp {
namespace {

PrivateBlock example() {
  PrivateBlock block{.verdict = Verdict::kNoService};
  block.offer = {.address = {.ipv4 = 0x7f000001, .port = 0x1122},
                 .service_id = 0x8877665544332211,
                 .features = kNotes | kAtomics,
                 .ird = 4,
                 .ord = 5,
                 .private_data = hex("'hello'")};
  return block;
}

TEST(PrivateBlock, StandsBehindTheConsumersData) {
  EXPECT_EQ(to_hex(encode_private_data(example())),
            to_hex(hex("'hello'"
                       " 'SDAT' 01 02 0005 00000005 7f000001 8877665544332211 1122 0004 0005 0000 baed05b8")));
}

TEST(PrivateBlock, ComesBackWhole) {
  const auto block = decode_private_data(encode_private_data(example()));
  ASSERT_TRUE(block);
  EXPECT_EQ(block->verdict, Verdict::kNoService);
  EXPECT_EQ(block->offer.address, example().offer.address);
  EXPECT_EQ(block->offer.service_id, example().offer.service_id);
  EXPECT_EQ(block->offer.features, example().offer.features);
  EXPECT_EQ(block->offer.ird, 4u);
  EXPECT_EQ(block->offer.ord, 5u);
  EXPECT_EQ(block->offer.private_data, hex("'hello'"));
}

TEST(PrivateBlock, FitsIntoWhatEveryResponderBears) {
  PrivateBlock block;
  block.offer.private_data.resize(kMaxPrivateData);
  EXPECT_LE(encode_private_data(block).size() + kMpaEnhancedSize, kSafeMpaPrivateData);
}

TEST(PrivateBlock, ForeignDataHasNone) {
  EXPECT_FALSE(decode_private_data({}));
  EXPECT_FALSE(decode_private_data(Bytes(kPrivateBlockSize)));
  EXPECT_FALSE(decode_private_data(Bytes(200)));
}

TEST(PrivateBlock, AnyChangedBitIsNoticed) {
  const Bytes good = encode_private_data(example());
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    Bytes bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    EXPECT_FALSE(decode_private_data(bad)) << bit;
  }
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_FALSE(decode_private_data(std::span(good).first(length))) << length;
  }
}

}  // namespace
}  // namespace softdat::transport::tcp
