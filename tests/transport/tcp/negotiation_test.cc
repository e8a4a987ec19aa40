// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/negotiation.h"

#include <gtest/gtest.h>

#include "tests/transport/tcp/bytes.h"

namespace softdat::transport::tcp {
namespace {

using Meaning = ReplyReading::Meaning;

constexpr std::uint64_t kService = 0x123456789abcdef0;
const Offer kOffer{.address = {.ipv4 = 0x7f000001},
                   .service_id = kService,
                   .features = kNotes | kAtomics,
                   .ird = 4,
                   .ord = 3,
                   .private_data = hex("0102")};

MpaFrame foreign_request(std::uint64_t crc = 0) {
  return {.kind = MpaFrameKind::kRequest,
          .wants_crc = crc != 0,
          .enhanced = MpaEnhanced{.ird = 7, .ord = 6},
          .private_data = hex("aabb")};
}

TEST(Negotiation, OurOwnPeersFindEachOther) {
  const MpaFrame request = make_request({}, kOffer);
  const RequestReading reading = read_request(request, kService, 20000);
  EXPECT_TRUE(reading.is_own);
  EXPECT_EQ(reading.verdict, Verdict::kNone);
  EXPECT_EQ(reading.peer.private_data, kOffer.private_data);
  EXPECT_EQ(reading.peer.ird, 4u);
  const Agreement agreement = agree({}, request, true, kNotes);
  EXPECT_EQ(agreement.rtr, kRtrWrite);
  EXPECT_FALSE(agreement.has_crc);
  const ReplyReading reply = read_reply(make_reply(agreement, request, kOffer), request, kOffer, false);
  EXPECT_EQ(reply.meaning, Meaning::kYes);
  EXPECT_TRUE(reply.agreement.is_own);
  EXPECT_EQ(reply.agreement.rtr, kRtrWrite);
  EXPECT_EQ(reply.agreement.features, static_cast<Features>(kNotes));
}

TEST(Negotiation, EitherSidesWishForCrcIsEnough) {
  TcpOptions with_crc;
  with_crc.crc = true;
  for (const bool initiator : {false, true}) {
    for (const bool responder : {false, true}) {
      const MpaFrame request = make_request(initiator ? with_crc : TcpOptions{}, kOffer);
      const Agreement ours = agree(responder ? with_crc : TcpOptions{}, request, true, 0);
      const ReplyReading theirs = read_reply(make_reply(ours, request, kOffer), request, kOffer, false);
      EXPECT_EQ(ours.has_crc, initiator || responder);
      EXPECT_EQ(theirs.agreement.has_crc, initiator || responder);
    }
  }
}

TEST(Negotiation, AForeignRequestAsksForThePortItCameTo) {
  const RequestReading right = read_request(foreign_request(), 7174, 7174);
  EXPECT_FALSE(right.is_own);
  EXPECT_EQ(right.verdict, Verdict::kNone);
  EXPECT_EQ(right.peer.service_id, 7174u);
  EXPECT_EQ(right.peer.ird, 7u);
  EXPECT_EQ(right.peer.ord, 6u);
  EXPECT_EQ(right.peer.private_data, hex("aabb"));
  EXPECT_EQ(read_request(foreign_request(), kService, 20000).verdict, Verdict::kNoService);
}

TEST(Negotiation, AForeignPeerGetsNothingOfOurs) {
  const MpaFrame request = foreign_request();
  const Agreement agreement = agree({}, request, false, 0);
  EXPECT_EQ(agreement.rtr, 0);
  EXPECT_EQ(make_reply(agreement, request, kOffer).private_data, kOffer.private_data);
  EXPECT_TRUE(make_refusal(request, Verdict::kNoService, {}).private_data.empty());
}

TEST(Negotiation, ReadRtrIsTakenWhenNothingElseIsOffered) {
  MpaFrame request = foreign_request();
  request.enhanced->is_peer_to_peer = true;
  request.enhanced->rtr = kRtrRead;
  EXPECT_EQ(agree({}, request, false, 0).rtr, kRtrRead);
  request.enhanced->rtr = kRtrSend | kRtrRead;
  EXPECT_EQ(agree({}, request, false, 0).rtr, kRtrRead);
  request.enhanced->rtr = kRtrRead | kRtrWrite;
  EXPECT_EQ(agree({}, request, false, 0).rtr, kRtrWrite);
  request.enhanced->rtr = 0;
  EXPECT_EQ(agree({}, request, false, 0).rtr, kRtrWrite);
}

TEST(Negotiation, MarkersAreRefusedByBothSides) {
  MpaFrame request = foreign_request();
  request.wants_markers = true;
  EXPECT_EQ(read_request(request, 7174, 7174).verdict, Verdict::kNoListener);
  EXPECT_FALSE(make_refusal(request, Verdict::kNoListener, {}).wants_markers);
  const MpaFrame ours = make_request({}, kOffer);
  const MpaFrame reply{.kind = MpaFrameKind::kReply, .wants_markers = true, .enhanced = MpaEnhanced{}};
  EXPECT_EQ(read_reply(reply, ours, kOffer, true).meaning, Meaning::kRefused);
  EXPECT_EQ(read_reply(reply, ours, kOffer, true).refusal, Refusal::kProtocol);
}

TEST(Negotiation, VerdictsBecomeRefusals) {
  const MpaFrame request = make_request({}, kOffer);
  const auto refused = [&](Verdict verdict) {
    return read_reply(make_refusal(request, verdict, kOffer), request, kOffer, false);
  };
  EXPECT_EQ(refused(Verdict::kNoService).meaning, Meaning::kWrongService);
  EXPECT_EQ(refused(Verdict::kNoListener).meaning, Meaning::kRefused);
  EXPECT_EQ(refused(Verdict::kNoListener).refusal, Refusal::kBusy);
  EXPECT_EQ(refused(Verdict::kByConsumer).refusal, Refusal::kByConsumer);
  EXPECT_EQ(refused(Verdict::kByConsumer).peer.private_data, kOffer.private_data);
}

TEST(Negotiation, AForeignPeerOnAProbePortIsTheWrongService) {
  const MpaFrame request = make_request({}, kOffer);
  const MpaFrame reply{.kind = MpaFrameKind::kReply, .enhanced = MpaEnhanced{}};
  EXPECT_EQ(read_reply(reply, request, kOffer, false).meaning, Meaning::kWrongService);
  EXPECT_EQ(read_reply(reply, request, kOffer, true).meaning, Meaning::kYes);
  MpaFrame refusal = reply;
  refusal.is_rejected = true;
  EXPECT_EQ(read_reply(refusal, request, kOffer, true).refusal, Refusal::kByConsumer);
}

TEST(Negotiation, PeerToPeerWithoutACommonBeginningIsNone) {
  const MpaFrame request = make_request({}, kOffer);
  MpaFrame reply{.kind = MpaFrameKind::kReply, .enhanced = MpaEnhanced{.is_peer_to_peer = true, .rtr = kRtrRead}};
  EXPECT_EQ(read_reply(reply, request, kOffer, true).meaning, Meaning::kNoRtr);
  reply.enhanced->is_peer_to_peer = false;
  EXPECT_EQ(read_reply(reply, request, kOffer, true).meaning, Meaning::kYes);
}

TEST(Negotiation, Revision1SaysNothingOfReads) {
  TcpOptions old;
  old.mpa_revision = 1;
  const MpaFrame request = make_request(old, kOffer);
  EXPECT_FALSE(request.enhanced);
  EXPECT_EQ(read_request(request, kService, 20000).peer.ird, 4u) << "our own block does";
  const MpaFrame foreign{.kind = MpaFrameKind::kRequest, .revision = 1};
  EXPECT_EQ(read_request(foreign, 7174, 7174).peer.ird, 1u);
}

}  // namespace
}  // namespace softdat::transport::tcp
