// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/mpa_frame.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/transport/tcp/bytes.h"

namespace softdat::transport::tcp {
namespace {

MpaFault fault_of(MpaFrameKind kind, const Bytes& bytes) {
  const auto frame = decode_mpa_frame(kind, bytes);
  EXPECT_FALSE(frame.ok());
  return frame.ok() ? MpaFault{} : frame.reason();
}

TEST(MpaFrame, ARequestOfRevision1) {
  const MpaFrame frame{.kind = MpaFrameKind::kRequest, .revision = 1, .private_data = hex("de ad")};
  const Bytes golden = hex("'MPA ID Req Frame' 00 01 0002 dead");
  EXPECT_EQ(to_hex(encode_mpa_frame(frame)), to_hex(golden));
  EXPECT_EQ(decode_mpa_frame(MpaFrameKind::kRequest, golden).value(), frame);
}

TEST(MpaFrame, AnEnhancedRequestWithPeerToPeerAndWriteRtr) {
  const MpaFrame frame{.kind = MpaFrameKind::kRequest,
                       .wants_crc = true,
                       .revision = 2,
                       .enhanced = MpaEnhanced{.is_peer_to_peer = true, .rtr = kRtrWrite, .ird = 16, .ord = 8},
                       .private_data = hex("01")};
  const Bytes golden = hex("'MPA ID Req Frame' 50 02 0005 8010 8008 01");
  EXPECT_EQ(to_hex(encode_mpa_frame(frame)), to_hex(golden));
  EXPECT_EQ(decode_mpa_frame(MpaFrameKind::kRequest, golden).value(), frame);
}

TEST(MpaFrame, ARefusingReply) {
  const MpaFrame frame{
      .kind = MpaFrameKind::kReply, .is_rejected = true, .revision = 2, .enhanced = MpaEnhanced{.ird = 1}};
  const Bytes golden = hex("'MPA ID Rep Frame' 30 02 0004 0001 0000");
  EXPECT_EQ(to_hex(encode_mpa_frame(frame)), to_hex(golden));
  EXPECT_EQ(decode_mpa_frame(MpaFrameKind::kReply, golden).value(), frame);
}

TEST(MpaFrame, EveryFlagSurvives) {
  for (unsigned bits = 0; bits < 256; ++bits) {
    MpaFrame frame{.kind = (bits & 1) != 0 ? MpaFrameKind::kRequest : MpaFrameKind::kReply,
                   .wants_markers = (bits & 2) != 0,
                   .wants_crc = (bits & 4) != 0,
                   .is_rejected = (bits & 8) != 0,
                   .enhanced = MpaEnhanced{.is_peer_to_peer = (bits & 16) != 0,
                                           .rtr = static_cast<std::uint8_t>(bits >> 5),
                                           .ird = 0x3fff,
                                           .ord = 0x2aaa}};
    EXPECT_EQ(decode_mpa_frame(frame.kind, encode_mpa_frame(frame)).value(), frame) << bits;
  }
}

TEST(MpaFrame, ReservedBitsAndTheEnhancedBitOfRevision1AreNotLookedAt) {
  const auto frame = decode_mpa_frame(MpaFrameKind::kRequest, hex("'MPA ID Req Frame' 1f 01 0002 aabb"));
  ASSERT_TRUE(frame.ok());
  EXPECT_FALSE(frame.value().enhanced);
  EXPECT_EQ(frame.value().private_data, hex("aabb"));
}

TEST(MpaFrame, FaultsHaveTheirNames) {
  const auto request = MpaFrameKind::kRequest;
  EXPECT_EQ(fault_of(request, hex("'MPA ID Rep Frame' 00 01 0000")), MpaFault::kWrongKey);
  EXPECT_EQ(fault_of(request, hex("'GET / HTTP/1.1......' 00 01 0000")), MpaFault::kWrongKey);
  EXPECT_EQ(fault_of(request, hex("'MPA ID Req Frame' 00 00 0000")), MpaFault::kBadRevision);
  EXPECT_EQ(fault_of(request, hex("'MPA ID Req Frame' 00 03 0000")), MpaFault::kBadRevision);
  EXPECT_EQ(fault_of(request, hex("'MPA ID Req Frame' 00 01 0201")), MpaFault::kTooLong);
  EXPECT_EQ(fault_of(request, hex("'MPA ID Req Frame' 00 01 0001")), MpaFault::kTruncated);
  EXPECT_EQ(fault_of(request, hex("'MPA ID Req Frame' 00 01 0000 00")), MpaFault::kTruncated);
  EXPECT_EQ(fault_of(request, hex("'MPA ID Req'")), MpaFault::kTruncated);
  EXPECT_EQ(fault_of(request, hex("'MPA ID Req Frame' 10 02 0003 000000")), MpaFault::kNoEnhanced);
}

TEST(MpaFrame, AnythingDecodesToAFrameOrAFault) {
  std::mt19937_64 random(1);
  int good = 0;
  for (int i = 0; i < 200000; ++i) {
    Bytes bytes = hex("'MPA ID Req Frame' 00 02 0010") + Bytes(16);
    for (std::uint64_t n = random() % 4; n > 0; --n) bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    const auto frame = decode_mpa_frame(MpaFrameKind::kRequest, bytes);
    if (!frame.ok()) continue;
    ++good;
    EXPECT_EQ(decode_mpa_frame(MpaFrameKind::kRequest, encode_mpa_frame(frame.value())).value(), frame.value());
  }
  EXPECT_GT(good, 0);
}

}  // namespace
}  // namespace softdat::transport::tcp
