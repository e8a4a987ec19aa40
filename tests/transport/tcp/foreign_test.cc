// SPDX-License-Identifier: BSD-2-Clause
// Peers that know nothing of SoftDAT: literal bytes in both directions.
#include <thread>

#include "base/byte_order.h"
#include "tests/transport/tcp/raw_peer.h"
#include "transport/tcp/fpdu.h"
#include "transport/tcp/mpa_frame.h"
#include "transport/tcp/note.h"
#include "transport/tcp/terminate.h"

namespace softdat::transport::tcp {
namespace {

class ForeignInitiatorTest : public RawTest {
 protected:
  void SetUp() override {
    start();
    port_ = std::make_unique<PeerPort>(*carrier_, kPort, 8);
    ASSERT_TRUE(port_->port);
    raw_ = RawPeer(address_, kPort);
  }
  void establish() {
    connect_raw(raw_, peer_, *port_);
    pass(std::chrono::milliseconds(100));
    ASSERT_TRUE(reach([&] { return peer_.is_established; }));
  }
  // Accepts whatever stands there and returns the reply of `size` bytes.
  Bytes accept_and_take(std::size_t size) {
    EXPECT_TRUE(reach([&] { return port_->requests.size() == 1; }));
    EXPECT_TRUE(peer_.accept(*port_->requests[0]));
    EXPECT_TRUE(reach([&] { return raw_.received().size() >= size; }, &raw_));
    return raw_.take(size);
  }

  std::unique_ptr<PeerPort> port_;
  RawPeer raw_;
  Peer peer_;
};

TEST_F(ForeignInitiatorTest, OfRevision2IsAnsweredAtRevision2WithNothingOfOurs) {
  raw_.send(mpa_request("10 02", hex("0007 0006 aabbcc")));
  ASSERT_TRUE(reach([&] { return port_->requests.size() == 1; }));
  const Offer& offer = port_->requests[0]->offer();
  EXPECT_EQ(offer.service_id, kPort);
  EXPECT_EQ(offer.features, 0u);
  EXPECT_EQ(offer.ird, 7u);
  EXPECT_EQ(offer.ord, 6u);
  EXPECT_EQ(offer.private_data, hex("aabbcc"));
  EXPECT_NE(offer.address.ipv4, 0u);
  peer_.offer.ird = 2;
  peer_.offer.ord = 3;
  peer_.offer.private_data = hex("dddd");
  EXPECT_EQ(to_hex(accept_and_take(26)), to_hex(mpa_reply("10 02", hex("0002 0003 dddd"))));
  EXPECT_EQ(peer_.channel->features(), 0u);
}

TEST_F(ForeignInitiatorTest, OfRevision1IsAnsweredAtRevision1) {
  raw_.send(mpa_request("00 01", hex("aa")));
  EXPECT_EQ(to_hex(accept_and_take(20)), to_hex(mpa_reply("00 01", {})));
}

TEST_F(ForeignInitiatorTest, ARequestMayComeByteByByte) {
  const Bytes request = mpa_request("10 02", hex("0007 0006 aabbcc"));
  for (const std::byte byte : request) {
    raw_.send({byte});
    settle();
  }
  ASSERT_TRUE(reach([&] { return port_->requests.size() == 1; }));
}

TEST_F(ForeignInitiatorTest, IsNotSentAnythingTooSoonAfterTheReply) {
  connect_raw(raw_, peer_, *port_);
  peer_.queue_send("patience");
  settle(&raw_);
  pass(std::chrono::milliseconds(99));
  settle(&raw_);
  EXPECT_FALSE(peer_.is_established);
  EXPECT_TRUE(raw_.received().empty());
  pass(std::chrono::milliseconds(1));
  ASSERT_TRUE(reach([&] { return raw_.received().size() == 32; }, &raw_));
  EXPECT_TRUE(peer_.is_established);
  EXPECT_EQ(to_hex(raw_.take(32)), to_hex(hex("001a 4143 00000000 00000000 00000001 00000000 'patience' 00000000")));
}

TEST_F(ForeignInitiatorTest, ItsFirstFpduEndsTheWaiting) {
  connect_raw(raw_, peer_, *port_);
  raw_.send(make_fpdu({.opcode = Opcode::kSend, .sequence = 1}, hex("'hello'")));
  ASSERT_TRUE(reach([&] { return peer_.messages.size() == 1; }));
  EXPECT_TRUE(peer_.is_established);
  EXPECT_EQ(peer_.messages[0].text(), "hello");
}

TEST_F(ForeignInitiatorTest, InPeerToPeerModeBeginsWithAnEmptyWrite) {
  raw_.send(mpa_request("10 02", hex("8004 c004")));
  EXPECT_EQ(to_hex(accept_and_take(24)), to_hex(mpa_reply("10 02", hex("8000 8000"))));
  pass(std::chrono::milliseconds(50));
  settle();
  EXPECT_FALSE(peer_.is_established);
  raw_.send(make_fpdu({.opcode = Opcode::kWrite, .stag = 1}));
  ASSERT_TRUE(reach([&] { return peer_.is_established; }));
  EXPECT_TRUE(peer_.messages.empty());
  // A second one is an ordinary Write.
  raw_.send(make_fpdu({.opcode = Opcode::kWrite, .stag = 1}));
  ASSERT_TRUE(reach([&] { return peer_.messages.size() == 1; }));
}

TEST_F(ForeignInitiatorTest, OrWithAnEmptyReadWhichIsAnswered) {
  raw_.send(mpa_request("10 02", hex("8004 4004")));
  EXPECT_EQ(to_hex(accept_and_take(24)), to_hex(mpa_reply("10 02", hex("8000 4000"))));
  raw_.send(make_fpdu({.opcode = Opcode::kReadRequest, .queue = 1, .sequence = 1},
                      hex("00000011 0000000000000022 00000000 00000001 0000000000000000")));
  ASSERT_TRUE(reach([&] { return peer_.is_established && raw_.received().size() == 20; }, &raw_));
  EXPECT_EQ(to_hex(raw_.take(20)), to_hex(hex("000e c142 00000011 0000000000000022 00000000")));
  EXPECT_TRUE(peer_.messages.empty());
}

TEST_F(ForeignInitiatorTest, ThatNeverConfirmsPeerToPeerModeIsLost) {
  raw_.send(mpa_request("10 02", hex("8004 8004")));
  accept_and_take(24);
  pass(std::chrono::seconds(11));
  ASSERT_TRUE(reach([&] { return !peer_.closings.empty(); }));
  EXPECT_EQ(peer_.closings, std::vector{CloseReason::kLost});
  EXPECT_TRUE(reach([&] { return raw_.is_ended(); }, &raw_));
}

TEST_F(ForeignInitiatorTest, IsNotBlamedForOurOwnDelay) {
  settle();  // accepted: its time runs
  raw_.send(mpa_request("10 02", hex("8004 8004")));
  while (raw_.has_unacknowledged()) std::this_thread::yield();
  pass(std::chrono::hours(1));
  accept_and_take(24);
  settle();  // the time for its word runs
  raw_.send(make_fpdu({.opcode = Opcode::kWrite, .stag = 1}));
  while (raw_.has_unacknowledged()) std::this_thread::yield();
  pass(std::chrono::hours(1));
  EXPECT_TRUE(reach([&] { return peer_.is_established; }));
  EXPECT_TRUE(peer_.closings.empty());
}

TEST_F(ForeignInitiatorTest, ThatWantsCrcGetsIt) {
  raw_.send(mpa_request("50 02", hex("0004 0004")));
  EXPECT_EQ(to_hex(accept_and_take(24)), to_hex(mpa_reply("50 02", hex("0000 0000"))));
  raw_.send(make_fpdu({.opcode = Opcode::kSend, .sequence = 1}, hex("'hello'"), true));
  ASSERT_TRUE(reach([&] { return peer_.messages.size() == 1; }));
  peer_.queue_send("hello too");
  ASSERT_TRUE(reach([&] { return raw_.received().size() == 36; }, &raw_));
  EXPECT_EQ(to_hex(raw_.take(36)),
            to_hex(make_fpdu({.opcode = Opcode::kSend, .sequence = 1}, hex("'hello too'"), true)));
}

TEST_F(ForeignInitiatorTest, WithABadCrcIsTerminated) {
  raw_.send(mpa_request("50 02", hex("0004 0004")));
  accept_and_take(24);
  raw_.send(make_fpdu({.opcode = Opcode::kSend, .sequence = 1}, hex("'hello'"), false));
  ASSERT_TRUE(reach([&] { return raw_.is_ended() || raw_.received().size() >= 28; }, &raw_));
  const Terminate expected = make_terminate({2, 0, 2}, 0, {});
  Bytes body(4);
  encode_terminate(expected, body.data());
  EXPECT_EQ(to_hex(raw_.take(28)),
            to_hex(make_fpdu({.opcode = Opcode::kTerminate, .queue = 2, .sequence = 1}, body, true)));
}

TEST_F(ForeignInitiatorTest, ThatInsistsOnMarkersIsRefused) {
  raw_.send(mpa_request("90 02", hex("0004 0004")));
  ASSERT_TRUE(reach([&] { return raw_.is_ended(); }, &raw_));
  EXPECT_EQ(to_hex(raw_.received()), to_hex(mpa_reply("30 02", hex("0000 0000"))));
  EXPECT_TRUE(port_->requests.empty());
}

TEST_F(ForeignInitiatorTest, IsRejectedWithTheConsumersData) {
  raw_.send(mpa_request("10 02", hex("0004 0004")));
  ASSERT_TRUE(reach([&] { return port_->requests.size() == 1; }));
  port_->requests[0]->reject(hex("'no'"));
  ASSERT_TRUE(reach([&] { return raw_.is_ended(); }, &raw_));
  EXPECT_EQ(to_hex(raw_.received()), to_hex(mpa_reply("30 02", hex("0000 0000 'no'"))));
}

TEST_F(ForeignInitiatorTest, GetsFpdusThatFitIntoATcpSegment) {
  establish();
  const std::size_t total = 300000;
  peer_.queue({.opcode = Opcode::kWrite, .length = total, .stag = 7}, conformance::make_pattern(total));
  Bytes payload;
  const bool whole = reach(
      [&] {
        while (raw_.received().size() >= 2) {
          const std::size_t ulpdu = base::load_be<std::uint16_t>(raw_.received().data());
          EXPECT_LE(fpdu_size(ulpdu), 65536u);
          if (raw_.received().size() < fpdu_size(ulpdu)) break;
          const Bytes fpdu = raw_.take(fpdu_size(ulpdu));
          payload.insert(payload.end(), fpdu.begin() + 16, fpdu.begin() + 2 + static_cast<std::ptrdiff_t>(ulpdu));
        }
        return payload.size() >= total;
      },
      &raw_);
  ASSERT_TRUE(whole);
  EXPECT_EQ(payload, conformance::make_pattern(total));
}

TEST_F(ForeignInitiatorTest, EndsInAnOrderlyWayByFin) {
  establish();
  raw_.shut_down();
  ASSERT_TRUE(reach([&] { return !peer_.closings.empty(); }));
  EXPECT_EQ(peer_.closings, std::vector{CloseReason::kBye});
}

TEST_F(ForeignInitiatorTest, IsLostWhenItEndsWithinAnFpdu) {
  establish();
  raw_.send(hex("0100 c140 0000"));
  raw_.shut_down();
  ASSERT_TRUE(reach([&] { return !peer_.closings.empty(); }));
  EXPECT_EQ(peer_.closings, std::vector{CloseReason::kLost});
}

TEST_F(ForeignInitiatorTest, IsLostWhenItResets) {
  establish();
  raw_.reset();
  ASSERT_TRUE(reach([&] { return !peer_.closings.empty(); }));
  EXPECT_EQ(peer_.closings, std::vector{CloseReason::kLost});
}

TEST_F(ForeignInitiatorTest, IsLeftByFinWithoutABye) {
  establish();
  peer_.queue_send("last");
  peer_.channel->close(CloseMode::kOrderly);
  ASSERT_TRUE(reach([&] { return raw_.is_ended(); }, &raw_));
  EXPECT_EQ(raw_.received().size(), 28u);
}

TEST_F(ForeignInitiatorTest, WhatLooksLikeANoteIsAWrite) {
  establish();
  raw_.send(make_fpdu({.opcode = Opcode::kWrite, .offset = encode_note(NoteKind::kAck, 7)}));
  ASSERT_TRUE(reach([&] { return peer_.messages.size() == 1; }));
  EXPECT_EQ(peer_.messages[0].message.opcode, Opcode::kWrite);
}

TEST_F(ForeignInitiatorTest, ATerminateOfOursQuotesTheSegmentAtFault) {
  establish();
  peer_.discards = true;
  peer_.before_place = [&](const Arrival&) { peer_.channel->terminate({1, 1, 0}); };
  raw_.send(make_fpdu({.opcode = Opcode::kWrite, .stag = 0x11223344, .offset = 0x55}, hex("'data'")));
  ASSERT_TRUE(reach([&] { return raw_.is_ended(); }, &raw_));
  EXPECT_EQ(to_hex(raw_.received()), to_hex(make_fpdu({.opcode = Opcode::kTerminate, .queue = 2, .sequence = 1},
                                                      hex("1100 c000 0012 c140 11223344 0000000000000055"))));
}

TEST_F(ForeignInitiatorTest, ATerminateQuotesTheHeadThatCouldNotBeUnderstood) {
  establish();
  Bytes unknown = make_fpdu({.opcode = Opcode::kWrite, .stag = 0x11223344, .offset = 0x55}, hex("'data'"));
  unknown[3] = std::byte{0x4c};
  // However it comes: byte by byte too.
  for (const std::byte byte : unknown) {
    raw_.send({byte});
    settle(&raw_);
    if (raw_.is_ended()) break;
  }
  ASSERT_TRUE(reach([&] { return raw_.is_ended(); }, &raw_));
  EXPECT_EQ(to_hex(raw_.received()), to_hex(make_fpdu({.opcode = Opcode::kTerminate, .queue = 2, .sequence = 1},
                                                      hex("0206 c000 0012 c14c 11223344 0000000000000055"))));
}

TEST_F(ForeignInitiatorTest, ATerminateNeverQuotesASegmentThatIsNotToBlame) {
  establish();
  const Bytes whole = make_fpdu({.opcode = Opcode::kSend, .sequence = 1}, hex("'whole'"));
  Bytes half = make_fpdu({.opcode = Opcode::kWrite, .stag = 5}, Bytes(50));
  half.resize(40);
  raw_.send(whole + half);
  settle(&raw_);
  ASSERT_EQ(peer_.messages.size(), 1u);
  peer_.channel->terminate({0, 1, 0});
  ASSERT_TRUE(reach([&] { return raw_.is_ended(); }, &raw_));
  EXPECT_EQ(to_hex(raw_.received()),
            to_hex(make_fpdu({.opcode = Opcode::kTerminate, .queue = 2, .sequence = 1}, hex("0100 0000"))));
}

TEST_F(ForeignInitiatorTest, IsLostWhenItEndsWithinAMessage) {
  establish();
  raw_.send(make_fpdu({.opcode = Opcode::kSend, .is_last = false, .sequence = 1}, hex("'half of'")));
  raw_.shut_down();
  ASSERT_TRUE(reach([&] { return !peer_.closings.empty(); }));
  EXPECT_EQ(peer_.closings, std::vector{CloseReason::kLost});
}

TEST_F(ForeignInitiatorTest, GetsTheLastBytesThoughTheCarrierGoesWithSomeOfItsOwnUnread) {
  establish();
  const std::size_t total = 1u << 20;
  peer_.queue({.opcode = Opcode::kWrite, .length = total, .stag = 7}, conformance::make_pattern(total));
  settle();
  ASSERT_TRUE(peer_.is_drained());
  peer_.channel->close(CloseMode::kOrderly);
  raw_.send(make_fpdu({.opcode = Opcode::kSend, .sequence = 1}, hex("'nobody reads me'")));
  peer_.channel.reset();
  port_.reset();
  std::thread end([&] { carrier_.reset(); });
  EXPECT_FALSE(raw_.is_hung_up_within(std::chrono::milliseconds(200))) << "its window is shut, so no end can have come";
  const base::Time deadline = base::Clock::now() + std::chrono::seconds(20);
  while (!raw_.is_ended() && base::Clock::now() < deadline) raw_.pump();
  end.join();
  std::size_t payload = 0;
  while (raw_.received().size() >= 2) {
    const std::size_t ulpdu = base::load_be<std::uint16_t>(raw_.received().data());
    if (raw_.received().size() < fpdu_size(ulpdu)) break;
    raw_.take(fpdu_size(ulpdu));
    payload += ulpdu - kTaggedHeadSize;
  }
  EXPECT_EQ(payload, total);
}

class ForeignResponderTest : public RawTest {
 protected:
  void SetUp() override {
    start();
    raw_ = RawPeer::listening(address_, kPort);
  }
  // Lets the carrier connect; the request without its header.
  Bytes take_request() {
    peer_.offer.private_data = hex("'mine'");
    peer_.connect(*carrier_, {.ipv4 = address_}, kPort);
    EXPECT_TRUE(reach([&] { return raw_.received().size() >= kMpaHeaderSize; }, &raw_));
    header_ = raw_.take(kMpaHeaderSize);
    const std::size_t length = base::load_be<std::uint16_t>(header_.data() + 18);
    EXPECT_TRUE(reach([&] { return raw_.received().size() >= length; }, &raw_));
    return raw_.take(length);
  }
  void expect_refusal(const Bytes& reply, Refusal reason) {
    take_request();
    raw_.send(reply);
    ASSERT_TRUE(reach([&] { return !peer_.refusals.empty(); }));
    EXPECT_EQ(peer_.refusals, std::vector{reason});
  }

  RawPeer raw_;
  Peer peer_;
  Bytes header_;
};

TEST_F(ForeignResponderTest, FindsTheConsumersDataWhereItExpectsIt) {
  peer_.offer.ird = 4;
  peer_.offer.ord = 5;
  const Bytes rest = take_request();
  EXPECT_EQ(to_hex(std::span(header_).first(18)), to_hex(hex("'MPA ID Req Frame' 10 02")));
  EXPECT_EQ(to_hex(std::span(rest).first(8)), to_hex(hex("8004 8005 'mine'")));
  EXPECT_LE(rest.size(), kSafeMpaPrivateData);
}

TEST_F(ForeignResponderTest, IsNotSentAnythingTooSoonAfterItsReply) {
  take_request();
  peer_.queue_send("wait");
  raw_.send(mpa_reply("10 02", hex("0008 0002 'yours'")));
  settle(&raw_);
  EXPECT_FALSE(peer_.is_established);
  EXPECT_TRUE(raw_.received().empty());
  pass(std::chrono::milliseconds(5));
  ASSERT_TRUE(reach([&] { return raw_.received().size() == 28; }, &raw_));
  EXPECT_EQ(peer_.established_offer.private_data, hex("'yours'"));
  EXPECT_EQ(peer_.established_offer.ird, 8u);
  EXPECT_EQ(peer_.established_offer.ord, 2u);
  EXPECT_EQ(peer_.established_offer.features, 0u);
}

TEST_F(ForeignResponderTest, InPeerToPeerModeGetsAnEmptyWriteFirst) {
  take_request();
  raw_.send(mpa_reply("10 02", hex("8008 8002")));
  settle(&raw_);
  EXPECT_TRUE(raw_.received().empty());
  pass(std::chrono::milliseconds(5));
  ASSERT_TRUE(reach([&] { return raw_.received().size() == 20; }, &raw_));
  EXPECT_EQ(to_hex(raw_.take(20)), to_hex(hex("000e c140 00000000 0000000000000000 00000000")));
  EXPECT_TRUE(peer_.is_established);
}

constexpr std::string_view kEmptyWrite = "000e c140 00000000 0000000000000000 00000000";

TEST_F(ForeignResponderTest, ThatSleepsOnTheFirstMessageIsWokenByAnEmptyWrite) {
  take_request();
  peer_.queue_send("wake up");
  raw_.send(mpa_reply("10 02", hex("0008 0002")));
  settle(&raw_);
  pass(std::chrono::milliseconds(5));
  ASSERT_TRUE(reach([&] { return raw_.received().size() == 32; }, &raw_));
  raw_.take(32);
  for (const int wait : {50, 200, 800, 3200}) {
    pass(std::chrono::milliseconds(wait - 1));
    settle(&raw_);
    EXPECT_TRUE(raw_.received().empty()) << wait;
    pass(std::chrono::milliseconds(1));
    ASSERT_TRUE(reach([&] { return raw_.received().size() == 20; }, &raw_)) << wait;
    EXPECT_EQ(to_hex(raw_.take(20)), to_hex(hex(kEmptyWrite)));
  }
  // A silence of that length is its own.
  pass(std::chrono::seconds(60));
  settle(&raw_);
  EXPECT_TRUE(raw_.received().empty());
}

TEST_F(ForeignResponderTest, ThatWasHeardIsLeftAlone) {
  take_request();
  raw_.send(mpa_reply("10 02", hex("0008 0002")));
  settle(&raw_);
  pass(std::chrono::milliseconds(5));
  ASSERT_TRUE(reach([&] { return peer_.is_established; }));
  raw_.send(make_fpdu({.opcode = Opcode::kSend, .sequence = 1}, hex("'awake'")));
  ASSERT_TRUE(reach([&] { return peer_.messages.size() == 1; }));
  pass(std::chrono::seconds(60));
  settle(&raw_);
  EXPECT_TRUE(raw_.received().empty());
}

TEST_F(ForeignResponderTest, MaySpeakFirst) {
  take_request();
  raw_.send(mpa_reply("10 02", hex("0008 0002")) + make_fpdu({.opcode = Opcode::kSend, .sequence = 1}, hex("'hi'")));
  ASSERT_TRUE(reach([&] { return peer_.messages.size() == 1; }));
  EXPECT_EQ(peer_.messages[0].text(), "hi");
}

TEST_F(ForeignResponderTest, WithoutACommonBeginningIsTerminated) {
  take_request();
  raw_.send(mpa_reply("10 02", hex("8008 4002")));
  ASSERT_TRUE(reach([&] { return !peer_.refusals.empty() && raw_.is_ended(); }, &raw_));
  EXPECT_EQ(peer_.refusals, std::vector{Refusal::kProtocol});
  EXPECT_EQ(to_hex(raw_.received()),
            to_hex(make_fpdu({.opcode = Opcode::kTerminate, .queue = 2, .sequence = 1}, hex("20 07 00 00"))));
}

TEST_F(ForeignResponderTest, MayRefuse) {
  expect_refusal(mpa_reply("30 02", hex("0000 0000 'sorry'")), Refusal::kByConsumer);
  EXPECT_EQ(peer_.refusal_data, hex("'sorry'"));
}

TEST_F(ForeignResponderTest, WithAWrongKeyIsNone) {
  expect_refusal(hex("'HTTP/1.0 400 Bad Request' 0d0a"), Refusal::kProtocol);
}

TEST_F(ForeignResponderTest, OfARevisionToComeIsNone) {
  expect_refusal(mpa_reply("10 03", hex("0000 0000")), Refusal::kProtocol);
}

TEST_F(ForeignResponderTest, ThatInsistsOnMarkersIsNone) {
  expect_refusal(mpa_reply("90 02", hex("0000 0000")), Refusal::kProtocol);
}

TEST_F(ForeignResponderTest, ThatHangsUpIsUnreachable) {
  take_request();
  raw_.close();
  ASSERT_TRUE(reach([&] { return !peer_.refusals.empty(); }));
  EXPECT_EQ(peer_.refusals, std::vector{Refusal::kUnreachable});
}

TEST_F(ForeignResponderTest, OfRevision1IsSpokenToInItsWay) {
  TcpOptions old;
  old.mpa_revision = 1;
  carrier_.reset();
  start(old);
  const Bytes rest = take_request();
  EXPECT_EQ(to_hex(std::span(header_).first(18)), to_hex(hex("'MPA ID Req Frame' 00 01")));
  EXPECT_EQ(to_hex(std::span(rest).first(4)), to_hex(hex("'mine'")));
  raw_.send(mpa_reply("00 01", {}));
  settle();
  pass(std::chrono::milliseconds(5));
  ASSERT_TRUE(reach([&] { return peer_.is_established; }));
}

}  // namespace
}  // namespace softdat::transport::tcp
