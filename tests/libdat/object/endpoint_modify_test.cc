// SPDX-License-Identifier: BSD-2-Clause
// dat_ep_modify: all of it or nothing.
#include "tests/libdat/object/waiter.h"

namespace softdat::object {
namespace {

class EndpointModifyTest : public testing::Test {
 protected:
  Pin<Endpoint> ep() { return ep_of(ep_); }
  Status set_attributes(const std::function<void(EndpointAttributes&)>& set) {
    EndpointChange change;
    change.attributes = set;
    return ep()->settings().modify(change);
  }
  std::size_t queue_pairs() { return world_.device->queue_pairs.size(); }

  World world_;
  Handle pz_ = world_.make_pz();
  Handle recv_ = world_.make_evd(kDtoStream);
  Handle request_ = world_.make_evd(kDtoStream);
  Handle connect_ = world_.make_evd(kConnectionStream);
  Handle ep_ = world_.make_ep(pz_, recv_, request_, connect_);
};

TEST_F(EndpointModifyTest, SmallerQueuesNeedNoNewQueuePair) {
  EXPECT_EQ(set_attributes([](auto& a) { a.max_recv_dtos = 5; }), kOk);
  EXPECT_EQ(ep()->query().attributes.max_recv_dtos, 5);
  EXPECT_EQ(queue_pairs(), 1u);
}

TEST_F(EndpointModifyTest, LargerQueuesDo) {
  EXPECT_EQ(set_attributes([](auto& a) { a.max_request_dtos = 900; }), kOk);
  EXPECT_EQ(queue_pairs(), 2u);
  EXPECT_EQ(world_.device->queue_pairs.back()->limits().send_wr, 900u);
  world_.device->queue_pairs.back()->move_to(hca::QueuePairState::kConnected);
  EXPECT_EQ(ep()->posts().post_send({}, 1, 0), kOk);
  EXPECT_EQ(world_.device->queue_pairs.back()->sends.size(), 1u);
}

TEST_F(EndpointModifyTest, PostedReceivesMoveAlong) {
  ASSERT_EQ(ep()->posts().post_recv({}, 1, 0), kOk);
  ASSERT_EQ(ep()->posts().post_recv({}, 2, 0), kOk);
  const Pin<Endpoint> user = ep();  // keeps the old queue pair
  EXPECT_EQ(set_attributes([](auto& a) { a.max_recv_dtos = 900; }), kOk);
  ASSERT_EQ(queue_pairs(), 2u);
  FakeQueuePair& now = *world_.device->queue_pairs.back();
  ASSERT_EQ(now.recvs.size(), 2u);
  EXPECT_EQ(now.recvs.front().wr_id, 1u);
  EXPECT_TRUE(world_.device->queue_pairs.front()->recvs.empty());
  EXPECT_FALSE(ep()->status().is_recv_idle);
  now.complete_recv(0);
  Event event;
  EXPECT_EQ(evd_of(recv_)->dequeue(event), kOk);
}

TEST_F(EndpointModifyTest, PostedReceivesFindRoomHoweverLittleIsAskedFor) {
  for (std::uint64_t cookie = 1; cookie <= 9; ++cookie) ASSERT_EQ(ep()->posts().post_recv({}, cookie, 0), kOk);
  EXPECT_EQ(set_attributes([](auto& a) {
              a.max_recv_dtos = 2;
              a.max_rdma_read_in = 1;
            }),
            kOk);
  EXPECT_EQ(ep()->query().attributes.max_recv_dtos, 2);
  EXPECT_EQ(world_.device->queue_pairs.back()->recvs.size(), 9u);
}

TEST_F(EndpointModifyTest, FlagsOfPostedReceivesAndTheirZoneStay) {
  ASSERT_EQ(ep()->posts().post_recv({}, 1, 0), kOk);
  const Status refusal = invalid_state(StatusDetail::kInvalidStateEpUnconnected);
  EXPECT_EQ(set_attributes([](auto& a) { a.recv_completion_flags = kUnsignalledFlag; }), refusal);
  EndpointChange change;
  change.pz = nullptr;
  EXPECT_EQ(ep()->settings().modify(change), refusal);
  EXPECT_EQ(queue_pairs(), 1u);
  EXPECT_EQ(ep()->query().pz, pz_);
}

TEST_F(EndpointModifyTest, WhatIsReplacedEndsAtOnce) {
  const int before = world_.device->live_objects.load();
  for (int round = 0; round < 20; ++round) {
    const auto recv = evd_of(world_.make_evd(kDtoStream));
    const auto pz = pin_handle<ProtectionZone>(world_.make_pz());
    ASSERT_EQ(ep()->settings().modify({&*pz, &*recv, std::nullopt, std::nullopt, {}}), kOk);
    ASSERT_EQ(EventDispatcher::free(evd_of(recv_)), kOk);
    ASSERT_EQ(ProtectionZone::free(pin_handle<ProtectionZone>(pz_)), kOk);
    recv_ = recv->handle();
    pz_ = pz->handle();
  }
  EXPECT_EQ(world_.device->live_objects.load(), before);
}

TEST_F(EndpointModifyTest, WhatAnotherCallMayUseEndsWithTheNextModificationOrReset) {
  const auto grow = [this] { return set_attributes([](auto& a) { ++a.max_rdma_read_in; }); };
  const int before = world_.device->live_objects.load();
  ASSERT_EQ(set_attributes([](auto& a) { a.max_rdma_read_in = 1; }), kOk);
  for (const bool is_reset : {false, true}) {
    Pin<Endpoint> other_call = ep();
    ASSERT_EQ(grow(), kOk);
    ASSERT_EQ(grow(), kOk);
    EXPECT_EQ(world_.device->live_objects.load(), before + 2);
    other_call.reset();
    ASSERT_EQ(is_reset ? ep()->connection().reset() : grow(), kOk);
    EXPECT_EQ(world_.device->live_objects.load(), before);
  }
}

TEST_F(EndpointModifyTest, WhatHasAnEventToTellStaysUntilItIsTold) {
  const int before = world_.device->live_objects.load();
  FakeQueuePair& old = *world_.device->queue_pairs.back();
  old.has_news = true;
  ASSERT_EQ(set_attributes([](auto& a) { a.max_request_dtos = 900; }), kOk);
  EXPECT_EQ(world_.device->live_objects.load(), before + 1);
  old.happen(hca::ConnectionEventType::kDisconnected, hca::QueuePairState::kIdle);
  Event event;
  EXPECT_EQ(evd_of(connect_)->dequeue(event), kOk);
  old.has_news = false;
  ASSERT_EQ(ep()->connection().reset(), kOk);
  EXPECT_EQ(world_.device->live_objects.load(), before);
}

TEST_F(EndpointModifyTest, CountsOfReplacedQueuePairsStay) {
  const auto count_one = [this] {
    world_.device->queue_pairs.back()->transfers[static_cast<std::size_t>(hca::Transfer::kPostSend)] = {1, 100};
  };
  count_one();
  for (const std::int32_t reads : {1, 2}) {
    ASSERT_EQ(set_attributes([&](auto& a) { a.max_rdma_read_in = reads; }), kOk);
    count_one();
  }
  const Pin<Endpoint> other_call = ep();
  ASSERT_EQ(set_attributes([](auto& a) { a.max_rdma_read_in = 3; }), kOk);
  count_one();
  EXPECT_EQ(ep()->counters().counter(ep_counter::kFirstTransfer, false), 4u);
  EXPECT_EQ(ep()->counters().counter(ep_counter::kFirstTransfer + 1, true), 400u);
  EXPECT_EQ(ep()->counters().counter(ep_counter::kFirstTransfer + 1, false), 0u);
  EXPECT_EQ(ep()->counters().sums().transfers[0].bytes, 400u);
}

// It is not "you choose" there: dat_ep_set_watermark() has set it.
TEST_F(EndpointModifyTest, SoftWatermarkOfZeroStays) {
  ASSERT_EQ(ep()->settings().set_watermarks(0, kNoWatermark), kOk);
  ASSERT_EQ(set_attributes([](auto& a) { a.max_request_dtos = 900; }), kOk);
  EXPECT_EQ(ep()->query().attributes.srq_soft_hw, 0);
  EXPECT_EQ(world_.device->queue_pairs.back()->soft_limit, 0u);
}

// What the peer is told must be what was asked for, so fewer reads need a new queue pair too.
TEST_F(EndpointModifyTest, NumbersOfReadsAreExact) {
  EXPECT_EQ(set_attributes([](auto& a) { a.max_rdma_read_out = 0; }), kOk);
  EXPECT_EQ(world_.device->queue_pairs.back()->limits().ord, 0u);
  EXPECT_EQ(set_attributes([](auto& a) { a.max_rdma_read_in = 3; }), kOk);
  EXPECT_EQ(world_.device->queue_pairs.back()->limits().ird, 3u);
  EXPECT_EQ(queue_pairs(), 3u);
}

TEST_F(EndpointModifyTest, NotificationOfItsOnlyStreamCanChange) {
  EXPECT_EQ(set_attributes([](auto& a) { a.recv_completion_flags = kSolicitedWaitFlag; }), kOk);
  EXPECT_EQ(evd_of(recv_)->query().mode, NotifyMode::kSolicited);
  EXPECT_EQ(set_attributes([](auto& a) { a.recv_completion_flags = 0; }), kOk);
  EXPECT_EQ(evd_of(recv_)->query().mode, NotifyMode::kThreshold);
}

TEST_F(EndpointModifyTest, NotificationChangesBesideOtherStreams) {
  const Handle other = world_.make_ep(pz_, recv_, request_, connect_);
  EXPECT_EQ(set_attributes([](auto& a) { a.recv_completion_flags = kSolicitedWaitFlag; }), kOk);
  EXPECT_EQ(ep()->query().attributes.recv_completion_flags, kSolicitedWaitFlag);
  EXPECT_EQ(ep_of(other)->query().attributes.recv_completion_flags, 0u);
  EXPECT_EQ(evd_of(recv_)->query().mode, NotifyMode::kSolicited);
  EXPECT_EQ(set_attributes([](auto& a) { a.recv_completion_flags = 0; }), kOk);
  EXPECT_EQ(evd_of(recv_)->query().mode, NotifyMode::kThreshold);
  ASSERT_EQ(Endpoint::free(ep_of(other)), kOk);
  EXPECT_EQ(EventDispatcher::free(evd_of(recv_)), invalid_state(StatusDetail::kInvalidStateEvdInUse));
}

TEST_F(EndpointModifyTest, DispatchersAndZoneAreExchanged) {
  const auto pz = pin_handle<ProtectionZone>(world_.make_pz());
  const auto recv = evd_of(world_.make_evd(kDtoStream));
  const auto request = evd_of(world_.make_evd(kDtoStream));
  const auto connect = evd_of(world_.make_evd(kConnectionStream));
  ASSERT_EQ(ep()->settings().modify({&*pz, &*recv, &*request, &*connect, {}}), kOk);
  EXPECT_EQ(ep()->query().pz, pz->handle());
  EXPECT_EQ(ep()->query().connect_evd, connect->handle());
  for (const Handle evd : {recv_, request_, connect_}) EXPECT_EQ(EventDispatcher::free(evd_of(evd)), kOk);
  EXPECT_EQ(ProtectionZone::free(pin_handle<ProtectionZone>(pz_)), kOk);
  EXPECT_EQ(ep()->posts().post_recv({}, 1, 0), kOk);
}

TEST_F(EndpointModifyTest, OneBadPartRefusesTheWhole) {
  const auto connect = evd_of(world_.make_evd(kConnectionStream));
  EndpointChange change;
  change.connect_evd = &*connect;
  change.recv_evd = &*connect;  // takes no DTO stream
  EXPECT_EQ(ep()->settings().modify(change), invalid_parameter(StatusDetail::kInvalidArg3));
  EXPECT_EQ(ep()->query().connect_evd, connect_);
  EXPECT_EQ(ep()->query().recv_evd, recv_);
  EXPECT_EQ(ep()->settings().modify({std::nullopt, std::nullopt, std::nullopt, &*evd_of(recv_), {}}),
            invalid_parameter(StatusDetail::kInvalidArg3));
}

TEST_F(EndpointModifyTest, DispatchersMayBecomeNull) {
  EndpointChange change;
  change.recv_evd = nullptr;
  change.connect_evd = nullptr;
  ASSERT_EQ(ep()->settings().modify(change), kOk);
  EXPECT_EQ(ep()->query().recv_evd, nullptr);
  EXPECT_EQ(EventDispatcher::free(evd_of(recv_)), kOk);
  EXPECT_EQ(EventDispatcher::free(evd_of(connect_)), kOk);
}

TEST_F(EndpointModifyTest, WildAttributesAreRefused) {
  const Status refusal = invalid_parameter(StatusDetail::kInvalidArg3);
  EXPECT_EQ(set_attributes([](auto& a) { a.max_recv_dtos = -5; }), refusal);
  EXPECT_EQ(set_attributes([](auto& a) { a.service_type = 77; }), refusal);
  EXPECT_EQ(set_attributes([](auto& a) { a.qos = 0x100; }), refusal);
}

}  // namespace
}  // namespace softdat::object
