// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/shared_receive_queue.h"

#include "tests/libdat/object/world.h"

namespace softdat::object {
namespace {

class SharedReceiveQueueTest : public testing::Test {
 protected:
  Status create(const SharedReceiveQueueAttributes& attributes, Handle& srq) {
    return SharedReceiveQueue::create(*pin_handle<InterfaceAdapter>(world_.ia), *pin_handle<ProtectionZone>(pz_),
                                      attributes, srq);
  }
  Handle make(const SharedReceiveQueueAttributes& attributes = {8, 2, 0}) {
    Handle srq = nullptr;
    EXPECT_EQ(create(attributes, srq), kOk);
    return srq;
  }
  static Pin<SharedReceiveQueue> queue_of(Handle handle) { return pin_handle<SharedReceiveQueue>(handle); }
  FakeSharedReceiveQueue& fake() { return *world_.device->shared_queues.back(); }
  Handle make_user(Handle srq) {
    Handle ep = nullptr;
    const auto queue = queue_of(srq);
    const auto zone = pin_handle<ProtectionZone>(pz_);
    EndpointConfig config;
    config.pz = zone.get();
    config.srq = queue.get();
    EXPECT_EQ(Endpoint::create(*pin_handle<InterfaceAdapter>(world_.ia), config, ep), kOk);
    return ep;
  }
  // The next asynchronous error.
  AsyncError next_error() {
    Event event;
    EXPECT_EQ(evd_of(world_.async_evd)->dequeue(event), kOk);
    const auto* error = std::get_if<AsyncError>(&event.body);
    EXPECT_NE(error, nullptr);
    return error == nullptr ? AsyncError{} : *error;
  }

  World world_;
  Handle pz_ = world_.make_pz();
};

TEST_F(SharedReceiveQueueTest, WhatTheDeviceLacksIsSaid) {
  Handle srq = nullptr;
  world_.device->next_srq_refusal = hca::Error::kNoMemory;
  EXPECT_EQ(create({8, 2, 0}, srq), insufficient_resources(StatusDetail::kResourceMemory));
  world_.device->next_srq_refusal = hca::Error::kLimitReached;
  EXPECT_EQ(create({8, 2, 0}, srq), insufficient_resources(StatusDetail::kResourceSrq));
  world_.device->next_srq_refusal = hca::Error::kUnsupported;
  EXPECT_EQ(create({8, 2, 0}, srq), model_not_supported());
  world_.device->limits.max_srq = 0;
  EXPECT_EQ(create({8, 2, 0}, srq), model_not_supported());
  EXPECT_EQ(srq, nullptr);
  EXPECT_EQ(ProtectionZone::free(pin_handle<ProtectionZone>(pz_)), kOk);
}

TEST_F(SharedReceiveQueueTest, ZeroSegmentsMeansThatTheDeviceChooses) {
  EXPECT_GT(queue_of(make({8, 0, 0}))->query().attributes.max_recv_iov, 0);
}

TEST_F(SharedReceiveQueueTest, RefusedPostsAndResizesNameTheirCause) {
  const auto queue = queue_of(make());
  fake().next_refusal = hca::Error::kWrongDomain;
  EXPECT_EQ(queue->post_recv({}, 1), protection_violation(StatusDetail::kProtectionWrite));
  fake().next_refusal = hca::Error::kMissingRight;
  EXPECT_EQ(queue->post_recv({}, 1), privileges_violation(StatusDetail::kPrivilegesWrite));
  fake().next_refusal = hca::Error::kNoMemory;
  EXPECT_EQ(queue->resize(16), insufficient_resources(StatusDetail::kResourceMemory));
  fake().next_refusal = hca::Error::kInvalidState;
  EXPECT_EQ(queue->resize(4), invalid_state(StatusDetail::kNoSubtype));
  EXPECT_EQ(queue->query().attributes.max_recv_dtos, 8);
}

TEST_F(SharedReceiveQueueTest, TheWatermarkIsArmedAtTheDeviceAndToldByTheAdapter) {
  const Handle srq = make();
  EXPECT_EQ(queue_of(srq)->set_low_watermark(5), kOk);
  EXPECT_EQ(fake().limit, 5u);
  fake().sink().on_low();
  const AsyncError error = next_error();
  EXPECT_EQ(error.object, srq);
  EXPECT_EQ(error.reason, 2);
  EXPECT_EQ(queue_of(srq)->set_low_watermark(9), invalid_parameter(StatusDetail::kInvalidArg2));
  EXPECT_EQ(fake().limit, 5u);
}

TEST_F(SharedReceiveQueueTest, AnEndpointKeepsItInUse) {
  const Handle srq = make();
  const Handle ep = make_user(srq);
  EXPECT_EQ(SharedReceiveQueue::free(queue_of(srq)), invalid_state(StatusDetail::kInvalidStateSrqInUse));
  EXPECT_EQ(ep_of(ep)->query().srq, srq);
  EXPECT_EQ(ep_of(ep)->posts().post_recv({}, 1, 0), invalid_state(StatusDetail::kNoSubtype));
  EXPECT_EQ(Endpoint::free(ep_of(ep)), kOk);
  EXPECT_EQ(SharedReceiveQueue::free(queue_of(srq)), kOk);
}

TEST_F(SharedReceiveQueueTest, AnEndpointThatCannotBeMadeDoesNotUseIt) {
  const Handle srq = make();
  {
    const auto queue = queue_of(srq);
    const auto zone = pin_handle<ProtectionZone>(pz_);
    const Handle evd = world_.make_evd(kSoftwareStream);
    const auto wrong = evd_of(evd);
    EndpointConfig config;
    config.pz = zone.get();
    config.recv_evd = wrong.get();
    config.srq = queue.get();
    Handle ep = nullptr;
    EXPECT_EQ(Endpoint::create(*pin_handle<InterfaceAdapter>(world_.ia), config, ep),
              invalid_handle(StatusDetail::kInvalidHandleEvdRecv));
  }
  EXPECT_EQ(SharedReceiveQueue::free(queue_of(srq)), kOk);
}

TEST_F(SharedReceiveQueueTest, TheEndOfAUsersConnectionIsAnAsynchronousEvent) {
  const Handle ep = make_user(make());
  FakeQueuePair& queue_pair = *world_.device->queue_pairs.back();
  queue_pair.establish();
  queue_pair.happen(hca::ConnectionEventType::kDisconnected, hca::QueuePairState::kError);
  const AsyncError error = next_error();
  EXPECT_EQ(error.object, ep);
  EXPECT_EQ(error.type, AsyncErrorType::kEpBroken);
  EXPECT_EQ(error.reason, 0);
}

TEST_F(SharedReceiveQueueTest, ClosingTheAdapterEndsEndpointsBeforeTheirQueue) {
  make_user(make());
  make_user(make());
  EXPECT_EQ(world_.close(false), kOk);
  EXPECT_EQ(world_.device->live_objects.load(), 0);
}

class WatermarkTest : public SharedReceiveQueueTest {
 protected:
  Handle ep_ = world_.make_ep(pz_, nullptr, nullptr, nullptr);
  FakeQueuePair& queue_pair() { return *world_.device->queue_pairs.back(); }
};

TEST_F(WatermarkTest, BecomeLimitsOfTheQueuePair) {
  EXPECT_EQ(ep_of(ep_)->settings().set_watermarks(3, 5), kOk);
  EXPECT_EQ(queue_pair().soft_limit, 3u);
  EXPECT_EQ(queue_pair().hard_limit, 5u);
  EXPECT_EQ(ep_of(ep_)->settings().set_watermarks(kNoWatermark, kNoWatermark), kOk);
  EXPECT_EQ(queue_pair().soft_limit, hca::kNoRecvLimit);
  EXPECT_EQ(queue_pair().hard_limit, hca::kNoRecvLimit);
}

TEST_F(WatermarkTest, TheSoftOneIsToldWithItsReason) {
  EXPECT_EQ(ep_of(ep_)->settings().set_watermarks(3, 5), kOk);
  queue_pair().sink().on_recv_limit();
  const AsyncError error = next_error();
  EXPECT_EQ(error.object, ep_);
  EXPECT_EQ(error.reason, 2);
  EXPECT_EQ(error.type, AsyncErrorType::kEpBroken);
}

TEST_F(WatermarkTest, AnotherQueuePairGetsThemTooButTheSoftOneOnlyUntilItWasTold) {
  EXPECT_EQ(ep_of(ep_)->settings().set_watermarks(3, 5), kOk);
  EndpointChange change;
  const Handle other = world_.make_pz();
  const auto zone = pin_handle<ProtectionZone>(other);
  change.pz = zone.get();
  EXPECT_EQ(ep_of(ep_)->settings().modify(change), kOk);
  EXPECT_EQ(queue_pair().soft_limit, 3u);
  EXPECT_EQ(queue_pair().hard_limit, 5u);
  queue_pair().sink().on_recv_limit();
  const auto first = pin_handle<ProtectionZone>(pz_);
  change.pz = first.get();
  EXPECT_EQ(ep_of(ep_)->settings().modify(change), kOk);
  EXPECT_EQ(queue_pair().soft_limit, hca::kNoRecvLimit);
  EXPECT_EQ(queue_pair().hard_limit, 5u);
}

}  // namespace
}  // namespace softdat::object
