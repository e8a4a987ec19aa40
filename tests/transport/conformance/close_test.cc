// SPDX-License-Identifier: BSD-2-Clause
// How channels end: orderly, abruptly, with a reason, by death, by revoked memory.
#include <gmock/gmock.h>

#include "tests/transport/conformance/carrier_test.h"

namespace softdat::transport::conformance {
namespace {

class CloseTest : public CarrierTest {
 protected:
  void SetUp() override {
    CarrierTest::SetUp();
    connect(active_, passive_);
  }
  bool reach_closed(const Peer& peer) {
    return reach([&peer] { return !peer.closings.empty(); });
  }

  Peer active_;
  Peer passive_;
};
INSTANTIATE_TEST_SUITE_P(All, CloseTest, testing::ValuesIn(worlds()), name_of);

constexpr TerminateCode kCode{.layer = 1, .type = 2, .code = 5};

Message send_of(std::size_t length) {
  return {.opcode = Opcode::kSend, .length = static_cast<std::uint32_t>(length)};
}

TEST_P(CloseTest, AnOrderlyCloseDeliversEverythingThenSaysBye) {
  for (int i = 0; i < 50; ++i) active_.queue(send_of(100), make_pattern(100, i));
  ASSERT_TRUE(reach([&] { return active_.is_drained(); }));
  active_.channel->close(CloseMode::kOrderly);
  EXPECT_EQ(active_.channel->send(send_of(0), nullptr), SendResult::kClosed);
  ASSERT_TRUE(reach_closed(passive_));
  EXPECT_EQ(passive_.closings, std::vector{CloseReason::kBye});
  ASSERT_EQ(passive_.messages.size(), 50u);
  EXPECT_TRUE(passive_.messages[49].bytes == make_pattern(100, 49));
  EXPECT_EQ(passive_.channel->send(send_of(0), nullptr), SendResult::kClosed);
  settle();
  EXPECT_TRUE(active_.closings.empty());
}

TEST_P(CloseTest, AnOrderlyCloseDeliversEvenWhenTheChannelIsDestroyedAtOnce) {
  active_.queue(send_of(3000), make_pattern(3000));
  ASSERT_TRUE(reach([&] { return active_.is_drained(); }));
  active_.channel->close(CloseMode::kOrderly);
  active_.channel.reset();
  ASSERT_TRUE(reach_closed(passive_));
  EXPECT_EQ(passive_.closings, std::vector{CloseReason::kBye});
  ASSERT_EQ(passive_.messages.size(), 1u);
}

TEST_P(CloseTest, DestroyingAnOpenChannelSaysBye) {
  active_.channel.reset();
  ASSERT_TRUE(reach_closed(passive_));
  EXPECT_EQ(passive_.closings, std::vector{CloseReason::kBye});
  settle();
  EXPECT_TRUE(active_.closings.empty());
}

TEST_P(CloseTest, BothSidesMayCloseAtOnce) {
  active_.channel->close(CloseMode::kOrderly);
  passive_.channel->close(CloseMode::kOrderly);
  settle();
  EXPECT_TRUE(active_.closings.empty());
  EXPECT_TRUE(passive_.closings.empty());
}

TEST_P(CloseTest, ClosingTwiceAndAfterTheEndIsHarmless) {
  active_.channel->close(CloseMode::kOrderly);
  active_.channel->close(CloseMode::kAbrupt);
  active_.channel->terminate(kCode);
  active_.channel->flush();
  ASSERT_TRUE(reach_closed(passive_));
  EXPECT_EQ(passive_.closings, std::vector{CloseReason::kBye});
  passive_.channel->close(CloseMode::kOrderly);
  passive_.channel->terminate(kCode);
  settle();
  EXPECT_TRUE(active_.closings.empty());
}

TEST_P(CloseTest, ATerminateArrivesWithItsCode) {
  active_.queue_send("before");
  ASSERT_TRUE(reach([&] { return passive_.messages.size() == 1; }));
  active_.channel->terminate(kCode);
  EXPECT_EQ(active_.channel->send(send_of(0), nullptr), SendResult::kClosed);
  ASSERT_TRUE(reach_closed(passive_));
  EXPECT_EQ(passive_.closings, std::vector{CloseReason::kTerminated});
  EXPECT_EQ(passive_.terminate_code, kCode);
  settle();
  EXPECT_TRUE(active_.closings.empty());
}

TEST_P(CloseTest, TerminatingFromWithinPlaceStopsTheMessage) {
  passive_.discards = true;
  passive_.before_place = [&](const Arrival&) { passive_.channel->terminate(kCode); };
  active_.queue(send_of(300000), make_pattern(300000));
  active_.queue_send("never heard");
  ASSERT_TRUE(reach_closed(active_));
  EXPECT_EQ(active_.closings, std::vector{CloseReason::kTerminated});
  EXPECT_EQ(active_.terminate_code, kCode);
  EXPECT_EQ(passive_.place_count, 1);
  EXPECT_TRUE(passive_.messages.empty());
  EXPECT_TRUE(passive_.closings.empty());
}

TEST_P(CloseTest, AChannelMayBeDestroyedFromWithinPlace) {
  passive_.before_place = [&](const Arrival&) { passive_.channel.reset(); };
  passive_.discards = true;
  active_.queue(send_of(300000), make_pattern(300000));
  ASSERT_TRUE(reach_closed(active_));
  EXPECT_EQ(passive_.place_count, 1);
  EXPECT_TRUE(passive_.messages.empty());
}

TEST_P(CloseTest, AChannelMayBeDestroyedFromWithinOnMessage) {
  passive_.after_message = [&] { passive_.channel.reset(); };
  active_.queue_send("last");
  active_.queue_send("never heard");
  ASSERT_TRUE(reach_closed(active_));
  EXPECT_EQ(passive_.messages.size(), 1u);
  EXPECT_EQ(active_.closings, std::vector{CloseReason::kBye});
}

TEST_P(CloseTest, AChannelMayBeDestroyedFromWithinOnWritable) {
  active_.before_writable = [&] { active_.channel.reset(); };
  const std::size_t big = 24u << 20;
  active_.queue(send_of(big), make_pattern(big));
  ASSERT_GT(active_.blocked_count, 0);
  ASSERT_TRUE(reach_closed(passive_));
  EXPECT_TRUE(passive_.messages.empty());
  EXPECT_EQ(active_.writable_count, 1);
}

TEST_P(CloseTest, AChannelMayBeDestroyedFromWithinOnClosed) {
  passive_.after_closed = [&] { passive_.channel.reset(); };
  active_.channel.reset();
  ASSERT_TRUE(reach_closed(passive_));
  settle();
  EXPECT_EQ(passive_.closings.size(), 1u);
}

TEST_P(CloseTest, MemoryRevokedInMidMessageLeavesNothingButTheEnd) {
  active_.revoke_from = 5u << 20;
  const std::size_t big = 24u << 20;
  active_.queue(send_of(big), make_pattern(big));
  ASSERT_TRUE(reach([&] { return active_.last_result == SendResult::kFaultMidway; }));
  EXPECT_TRUE(active_.closings.empty());
  active_.channel->terminate(kCode);
  ASSERT_TRUE(reach_closed(passive_));
  EXPECT_NE(passive_.closings[0], CloseReason::kBye);
  EXPECT_TRUE(passive_.messages.empty());
}

TEST_P(CloseTest, MemoryRevokedBeforeTheFirstByteLeavesTheChannelAsItWas) {
  active_.revoke_from = 0;
  active_.queue(send_of(10), make_pattern(10));
  ASSERT_TRUE(reach([&] { return active_.last_result == SendResult::kFault; }));
  active_.drop_waiting();
  active_.revoke_from = UINT64_MAX;
  active_.queue_send("goes on");
  ASSERT_TRUE(reach([&] { return !passive_.messages.empty(); }));
  EXPECT_EQ(passive_.messages[0].text(), "goes on");
}

TEST_P(CloseTest, TheEndOfOneChannelLeavesTheOthers) {
  Peer other_active, other_passive;
  connect(other_active, other_passive);
  active_.channel->terminate(kCode);
  ASSERT_TRUE(reach_closed(passive_));
  active_.channel.reset();
  passive_.channel.reset();
  other_active.queue_send("still here");
  ASSERT_TRUE(reach([&] { return other_passive.messages.size() == 1; }));
  other_passive.queue_send("so am I");
  ASSERT_TRUE(reach([&] { return other_active.messages.size() == 1; }));
}

TEST_P(CloseTest, TheDeathOfThePeerIsHeardOncePerChannel) {
  if (!world_->can_kill()) GTEST_SKIP() << "nobody would survive, or it is tested between processes";
  Peer more_active[3], more_passive[3];
  for (int i = 0; i < 3; ++i) connect(more_active[i], more_passive[i]);
  PeerPort port(world_->there(), kService, 4);
  Peer pending;
  pending.connect(world_->here(), world_->there_address(), kService);
  ASSERT_TRUE(reach([&] { return port.requests.size() == 1; }));
  world_->kill_there();
  // The system closes the listeners of a process that ends.
  port.port.reset();
  ASSERT_TRUE(reach_closed(active_));
  for (Peer& peer : more_active) ASSERT_TRUE(reach_closed(peer));
  ASSERT_TRUE(reach([&] { return !pending.refusals.empty(); }));
  settle();
  EXPECT_EQ(active_.closings, std::vector{CloseReason::kLost});
  for (Peer& peer : more_active) EXPECT_EQ(peer.closings, std::vector{CloseReason::kLost});
  // Over TCP, a foreign program on the port may have hung up, so "no listener" is an answer, too.
  EXPECT_THAT(pending.refusals, testing::ElementsAre(testing::AnyOf(Refusal::kUnreachable, Refusal::kNoListener)));
  EXPECT_EQ(active_.channel->send(send_of(0), nullptr), SendResult::kClosed);
}

}  // namespace
}  // namespace softdat::transport::conformance
