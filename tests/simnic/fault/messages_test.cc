// SPDX-License-Identifier: BSD-2-Clause
// Faults of messages that a connection sends.
#include "tests/simnic/fault/fault_world.h"

namespace softdat::simnic::testing {
namespace {

using std::chrono::milliseconds;

class MessageFaultTest : public TransferFaultTest {
 protected:
  void send_five() { send_numbered(5); }
};

TEST_F(MessageFaultTest, ADropBeforeAMessageLetsAllBeforeItComplete) {
  begin("drop-connection process=here nth=3");
  send_five();
  EXPECT_EQ(active_->sends(), "1:ok 2:ok 3:flushed 4:flushed 5:flushed");
  EXPECT_EQ(passive_->recvs(), "1:ok 2:ok 3:flushed 4:flushed 5:flushed");
  EXPECT_EQ(active_->events(), "broken");
  EXPECT_EQ(passive_->events(), "broken");
  EXPECT_EQ(log_.text(),
            "drop-connection process=here ia=sim0 endpoint=1 connection=1 number=3 when=before  # send of 1 bytes\n");
}

TEST_F(MessageFaultTest, ADropAfterAMessageLetsItComplete) {
  begin("drop-connection process=here nth=3 when=after");
  send_five();
  EXPECT_EQ(active_->sends(), "1:ok 2:ok 3:ok 4:flushed 5:flushed");
  EXPECT_EQ(passive_->recvs(), "1:ok 2:ok 3:ok 4:flushed 5:flushed");
  EXPECT_EQ(active_->events(), "broken");
  EXPECT_EQ(passive_->events(), "broken");
}

// Two receives are there, and the peer asks for the rest again, when the fifth request waits for the end already.
TEST_F(MessageFaultTest, AnEndComesAlsoWhenAPeerHasNoReceiveYet) {
  for (const char* const plan : {"drop-connection process=here nth=5", "break-endpoint process=here nth=5",
                                 "drop-connection process=here nth=4 when=after"}) {
    begin(plan);
    for (std::uint64_t i = 1; i <= 2; ++i) expect_ok(passive_->recv(i, {to_->segment(i, 1)}));
    for (std::uint64_t i = 1; i <= 5; ++i) expect_ok(active_->send(i, {from_->segment(i, 1)}));
    settle();
    for (std::uint64_t i = 3; i <= 5; ++i) expect_ok(passive_->recv(i, {to_->segment(i, 1)}));
    settle();
    EXPECT_EQ(active_->sends(), "1:ok 2:ok 3:ok 4:ok 5:flushed") << plan;
    EXPECT_EQ(passive_->recvs(), "1:ok 2:ok 3:ok 4:ok 5:flushed") << plan;
    EXPECT_EQ(active_->events(), "broken") << plan;
    EXPECT_EQ(passive_->events(), "broken") << plan;
  }
}

TEST_F(MessageFaultTest, ADropAfterAWriteIsAfterItsImmediateData) {
  begin("drop-connection process=here nth=1 when=after");
  expect_ok(passive_->recv(1, {to_->segment(8, 8)}));
  expect_ok(active_->write_immediate(1, {from_->segment(0, 8)}, *to_, 7));
  expect_ok(active_->write(2, {from_->segment(0, 8)}, *to_));
  settle();
  EXPECT_EQ(active_->sends(), "1:ok 2:flushed");
  EXPECT_EQ(passive_->recvs(), "1:ok");
  EXPECT_EQ(active_->events(), "broken");
}

TEST_F(MessageFaultTest, ABrokenEndpointIsThePeersFault) {
  begin("break-endpoint process=here nth=1");
  send_five();
  EXPECT_EQ(active_->sends(), "1:flushed 2:flushed 3:flushed 4:flushed 5:flushed");
  EXPECT_EQ(active_->events(), "broken");
  EXPECT_EQ(passive_->events(), "broken");
}

TEST_F(MessageFaultTest, ARefusedRequestFailsAsThePeerWouldFailIt) {
  begin("fail-request op=write nth=2");
  for (std::uint64_t i = 1; i <= 3; ++i) expect_ok(active_->write(i, {from_->segment(i, 1)}, *to_));
  settle();
  EXPECT_EQ(active_->sends(), "1:ok 2:remote-access 3:flushed");
  EXPECT_EQ(active_->events(), "broken");
  EXPECT_EQ(passive_->events(), "broken");
}

TEST_F(MessageFaultTest, RefusedReadsAtomicsAndSendsToo) {
  begin("fail-request op=read");
  expect_ok(active_->read(1, {from_->segment(0, 8)}, *to_));
  settle();
  EXPECT_EQ(active_->sends(), "1:remote-access");
  begin("fail-request op=atomic");
  expect_ok(active_->fetch_add(1, from_->segment(0, 8), *to_, 0, 1));
  settle();
  EXPECT_EQ(active_->sends(), "1:remote-access");
  begin("fail-request op=send nth=2");
  send_five();
  EXPECT_EQ(active_->sends(), "1:ok 2:remote-access 3:flushed 4:flushed 5:flushed");
  EXPECT_EQ(passive_->recvs(), "1:ok 2:flushed 3:flushed 4:flushed 5:flushed");
}

TEST_F(MessageFaultTest, AnEmptyWriteOrReadIsNotRefused) {
  begin("fail-request");
  expect_ok(active_->write(1, {}, *to_));
  expect_ok(active_->read(2, {}, *to_));
  settle();
  EXPECT_EQ(active_->sends(), "1:ok 2:ok");
  EXPECT_EQ(log_.text(), "");
}

TEST_F(MessageFaultTest, ACorruptPayloadArrivesWithOneBitInverted) {
  begin("corrupt-payload op=write nth=1 at=2 bit=0");
  expect_ok(active_->write(1, {from_->segment(0, 8)}, *to_));
  settle();
  EXPECT_EQ(to_->text(8), "01334567");
  EXPECT_EQ(active_->sends(), "1:ok");
  EXPECT_EQ(from_->text(8), "01234567") << "the source keeps its bytes";
}

TEST_F(MessageFaultTest, ADelayHoldsAMessageAndAllBehindIt) {
  begin("delay process=here ms=20 nth=2");
  send_five();
  EXPECT_EQ(passive_->recvs(), "1:ok");
  world_->pass(milliseconds(19));
  EXPECT_EQ(passive_->recvs(), "");
  world_->pass(milliseconds(2));
  EXPECT_EQ(passive_->recvs(), "2:ok 3:ok 4:ok 5:ok");
  EXPECT_EQ(active_->sends(), "1:ok 2:ok 3:ok 4:ok 5:ok");
}

TEST_F(MessageFaultTest, JitterIsLoggedAsTheDelaysThatItMade) {
  begin("seed=3; jitter process=here ms=20");
  send_five();
  for (int i = 0; i < 100; ++i) world_->pass(milliseconds(1));
  EXPECT_EQ(passive_->recvs(), "1:ok 2:ok 3:ok 4:ok 5:ok");
  const std::string jittered = log_.text();
  EXPECT_EQ(jittered.find("jitter"), jittered.npos);
  EXPECT_NE(jittered.find("number=5 ms="), jittered.npos) << jittered;
}

TEST_F(MessageFaultTest, ARateLetsEachMessageTakeItsTime) {
  begin("limit-rate process=here rate=100");
  send_five();
  EXPECT_EQ(passive_->recvs(), "1:ok");
  world_->pass(milliseconds(10));
  EXPECT_EQ(passive_->recvs(), "2:ok");
  for (int i = 0; i < 3; ++i) world_->pass(milliseconds(10));
  EXPECT_EQ(passive_->recvs(), "3:ok 4:ok 5:ok");
}

TEST_F(MessageFaultTest, TheLogHasEachRate) {
  begin("limit-rate process=here rate=100 nth=1; limit-rate process=here rate=200 nth=3");
  send_five();
  for (int i = 0; i < 50; ++i) world_->pass(milliseconds(1));
  EXPECT_EQ(passive_->recvs(), "1:ok 2:ok 3:ok 4:ok 5:ok");
  EXPECT_NE(log_.text().find("number=1 rate=100 "), std::string::npos) << log_.text();
  EXPECT_NE(log_.text().find("number=3 rate=200 "), std::string::npos) << log_.text();
}

TEST_F(MessageFaultTest, AFlapEnds) {
  begin("flap process=here ms=50 nth=3");
  send_five();
  EXPECT_EQ(active_->sends(), "1:ok 2:ok");
  world_->pass(milliseconds(50));
  EXPECT_EQ(active_->sends(), "3:ok 4:ok 5:ok");
}

TEST_F(MessageFaultTest, AStoppedPeerAnswersNothing) {
  begin("stop-peer process=there nth=1 ms=50");
  Memory back(there(), bytes("x")), message(here(), 1);
  expect_ok(active_->recv(9, {message.all()}));
  expect_ok(passive_->send(8, {back.all()}));
  send_five();
  EXPECT_EQ(passive_->recvs(), "1:ok 2:ok 3:ok 4:ok 5:ok");
  EXPECT_EQ(active_->sends(), "") << "no acknowledgement leaves the stopped process";
  world_->pass(milliseconds(50));
  EXPECT_EQ(active_->sends(), "1:ok 2:ok 3:ok 4:ok 5:ok");
  EXPECT_EQ(active_->recvs(), "9:ok");
}

TEST_F(MessageFaultTest, APartitionHoldsMessagesAndConnects) {
  begin("partition process=here peer=10.0.0.2 nth=2 ms=50");
  send_five();
  EXPECT_EQ(active_->sends(), "1:ok");
  Endpoint other(here());
  ListenerLog listening;
  const auto listener = expect_ok(there().nic().listen(kService, 8, listening));
  expect_ok(other.connect(there(), kService, "", milliseconds(20)));
  world_->pass(milliseconds(30));
  EXPECT_EQ(other.events(), "timed-out");
  EXPECT_TRUE(listening.requests.empty());
  world_->pass(milliseconds(20));
  EXPECT_EQ(active_->sends(), "2:ok 3:ok 4:ok 5:ok");
}

TEST_F(MessageFaultTest, AStopHoldsConnects) {
  begin("stop-peer process=here nth=2 ms=50");
  send_five();
  Endpoint other(here());
  ListenerLog listening;
  const auto listener = expect_ok(there().nic().listen(kService, 8, listening));
  expect_ok(other.connect(there()));
  world_->pass(milliseconds(49));
  EXPECT_TRUE(listening.requests.empty());
  world_->pass(milliseconds(1));
  settle();
  EXPECT_EQ(listening.requests.size(), 1u);
}

TEST_F(MessageFaultTest, LateCompletionsComeTogether) {
  begin("late-completions process=here ms=30 nth=2");
  send_five();
  EXPECT_EQ(passive_->recvs(), "1:ok 2:ok 3:ok 4:ok 5:ok");
  EXPECT_EQ(active_->sends().find("2:"), std::string::npos);
  world_->pass(milliseconds(30));
  const std::string late = active_->sends();
  EXPECT_NE(late.find("2:ok 3:ok 4:ok 5:ok"), late.npos) << late;
}

TEST_F(MessageFaultTest, AnAdapterThatFailsBreaksItsConnectionsAndMakesNoMore) {
  struct Watch final : hca::DeviceSink {
    void on_device_failed() override { ++failures; }
    int failures = 0;
  } watch;
  begin("fail-adapter process=here nth=2");
  here().nic().watch(watch);
  send_five();
  EXPECT_EQ(watch.failures, 1);
  EXPECT_EQ(active_->events(), "broken");
  EXPECT_EQ(passive_->events(), "broken");
  Endpoint other(here());
  expect_ok(other.connect(there()));
  settle();
  EXPECT_EQ(other.events(), "unreachable");
  here().nic().forget(watch);
}

TEST_F(MessageFaultTest, AnAdapterThatHasFailedAcceptsNothing) {
  begin("fail-adapter process=here nth=1");
  ListenerLog listening;
  const auto listener = expect_ok(here().nic().listen(kService, 8, listening));
  Endpoint early(there()), late(there()), acceptor(here());
  expect_ok(early.connect(here()));
  settle();
  ASSERT_EQ(listening.requests.size(), 1u);
  send_five();
  expect_ok(listening.requests[0]->accept(acceptor.qp(), {}));
  expect_ok(late.connect(here()));
  settle();
  EXPECT_EQ(acceptor.events(), "accept-failed");
  EXPECT_EQ(listening.requests.size(), 1u);
  EXPECT_EQ(early.events(), "non-peer-rejected");
  EXPECT_EQ(late.events(), "non-peer-rejected");
}

TEST_F(MessageFaultTest, ARequestThatIsSentAgainIsTheSameRequest) {
  begin("corrupt-payload process=here nth=1 at=0 bit=0; drop-connection process=here nth=3");
  // No receive yet: the responder drops the send, and asks for it again.
  expect_ok(active_->send(1, {from_->segment(2, 1)}));
  settle();
  expect_ok(passive_->recv(1, {to_->segment(0, 1)}));
  settle();
  EXPECT_EQ(to_->text(1), "3");
  expect_ok(passive_->recv(2, {to_->segment(1, 1)}));
  expect_ok(active_->send(2, {from_->segment(2, 1)}));
  expect_ok(active_->send(3, {from_->segment(2, 1)}));
  settle();
  EXPECT_EQ(active_->sends(), "1:ok 2:ok 3:flushed");
}

TEST_F(MessageFaultTest, WhatLeftNoTraceInThePlanIsUnharmed) {
  begin("drop-connection process=elsewhere");
  send_five();
  EXPECT_EQ(active_->sends(), "1:ok 2:ok 3:ok 4:ok 5:ok");
  expect_ok(active_->qp().disconnect(true));
  settle();
  EXPECT_EQ(active_->events(), "disconnected");
  EXPECT_EQ(passive_->events(), "disconnected");
  EXPECT_EQ(log_.text(), "");
}

}  // namespace
}  // namespace softdat::simnic::testing
