// SPDX-License-Identifier: BSD-2-Clause
// The data path: what is passed on, what is refused, and what comes back.
#include "tests/libdat/object/waiter.h"

namespace softdat::object {
namespace {

class EndpointPostTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(ep_->connection().connect({.remote = {1, 0}, .conn_qual = 1, .timeout_us = 1}), kOk);
    queue_pair().establish();
  }
  FakeQueuePair& queue_pair() { return *world_.device->queue_pairs.front(); }
  DtoCompletion next(Handle evd) {
    Event event;
    EXPECT_EQ(evd_of(evd)->dequeue(event), kOk);
    return std::get<DtoCompletion>(event.body);
  }
  bool is_empty(Handle evd) {
    Event event;
    return evd_of(evd)->dequeue(event) == kBareEmpty;
  }
  static Pin<Endpoint> make(World& world, Handle pz, Handle recv, Handle request, Handle connect,
                            EndpointAttributes attributes) {
    return ep_of(world.make_ep(pz, recv, request, connect, &attributes));
  }

  World world_;
  Handle pz_ = world_.make_pz();
  Handle recv_ = world_.make_evd(kDtoStream);
  Handle request_ = world_.make_evd(kDtoStream);
  Handle connect_ = world_.make_evd(kConnectionStream);
  Pin<Endpoint> ep_ = ep_of(world_.make_ep(pz_, recv_, request_, connect_));
  const std::vector<Segment> local_{{0x1000, 100, 7}, {0x9000, 28, 8}};
};

TEST_F(EndpointPostTest, SendIsPassedOnAndComesBack) {
  ASSERT_EQ(ep_->posts().post_send(local_, 0xfedcba9876543210u, kSolicitedWaitFlag | kBarrierFenceFlag), kOk);
  const FakeQueuePair::Posted& posted = queue_pair().sends.front();
  EXPECT_EQ(posted.opcode, hca::SendOpcode::kSend);
  EXPECT_EQ(posted.flags, hca::kSignaled | hca::kSolicited | hca::kFence);
  ASSERT_EQ(posted.local.size(), 2u);
  EXPECT_EQ(posted.local[1].lkey, 8u);
  queue_pair().complete_send();
  const DtoCompletion done = next(request_);
  EXPECT_EQ(done.ep, ep_->handle());
  EXPECT_EQ(done.cookie, 0xfedcba9876543210u);
  EXPECT_EQ(done.length, 128u);
  EXPECT_EQ(done.status, DtoStatus::kSuccess);
  EXPECT_EQ(done.operation, DtoOperation::kSend);
}

TEST_F(EndpointPostTest, OperationsAreTold) {
  ASSERT_EQ(ep_->posts().post_rdma_write(local_, 1, {0x5000, 128, 9}, 0), kOk);
  EXPECT_EQ(queue_pair().sends.back().rkey, 9u);
  EXPECT_EQ(queue_pair().sends.back().remote_address, 0x5000u);
  ASSERT_EQ(ep_->posts().post_rdma_read(local_, 2, {0x5000, 128, 9}, 0), kOk);
  ASSERT_EQ(ep_->posts().post_recv(local_, 3, 0), kOk);
  queue_pair().complete_send();
  queue_pair().complete_send();
  queue_pair().complete_recv(77);
  EXPECT_EQ(next(request_).operation, DtoOperation::kRdmaWrite);
  EXPECT_EQ(next(request_).operation, DtoOperation::kRdmaRead);
  const DtoCompletion received = next(recv_);
  EXPECT_EQ(received.operation, DtoOperation::kReceive);
  EXPECT_EQ(received.length, 77u);
}

TEST_F(EndpointPostTest, SuppressedSuccessIsNotReportedButFailureIs) {
  ASSERT_EQ(ep_->posts().post_send(local_, 1, kSuppressFlag), kOk);
  ASSERT_EQ(ep_->posts().post_send(local_, 2, kSuppressFlag), kOk);
  queue_pair().complete_send();
  EXPECT_TRUE(is_empty(request_));
  queue_pair().complete_send(hca::CompletionStatus::kRemoteAccess);
  const DtoCompletion failed = next(request_);
  EXPECT_EQ(failed.cookie, 2u);
  EXPECT_EQ(failed.status, DtoStatus::kRemoteAccess);
  EXPECT_EQ(failed.length, 0u);
}

// "The value of DAT_COMPLETION_UNSIGNALLED_FLAG is only valid if the Endpoint ..." - but beside
// SUPPRESS, as programs have it, it asks for nothing.
TEST_F(EndpointPostTest, UnsignalledNeedsAnEndpointThatAllowsIt) {
  const RemoteBuffer remote{0, 128, 1};
  EXPECT_EQ(ep_->posts().post_send(local_, 1, kUnsignalledFlag), invalid_parameter(StatusDetail::kInvalidArg5));
  EXPECT_EQ(ep_->posts().post_recv(local_, 1, kUnsignalledFlag), invalid_parameter(StatusDetail::kInvalidArg5));
  EXPECT_EQ(ep_->posts().post_rdma_write(local_, 1, remote, kUnsignalledFlag),
            invalid_parameter(StatusDetail::kInvalidArg6));
  EXPECT_EQ(ep_->posts().post_rdma_read(local_, 1, remote, kUnsignalledFlag),
            invalid_parameter(StatusDetail::kInvalidArg6));
  EXPECT_TRUE(queue_pair().sends.empty());
  EXPECT_EQ(ep_->posts().post_send(local_, 1, kUnsignalledFlag | kSuppressFlag), kOk);
  EXPECT_EQ(queue_pair().sends.back().flags & hca::kQuiet, 0u);
}

TEST_F(EndpointPostTest, UnsignalledIsQuietWhereItIsAllowed) {
  const Handle recv = world_.make_evd(kDtoStream);
  const Handle request = world_.make_evd(kDtoStream);
  EndpointAttributes attributes;
  attributes.recv_completion_flags = kUnsignalledFlag;
  attributes.request_completion_flags = kUnsignalledFlag;
  const auto ep = make(world_, pz_, recv, request, connect_, attributes);
  FakeQueuePair& pair = *world_.device->queue_pairs.back();
  pair.move_to(hca::QueuePairState::kConnected);
  EXPECT_EQ(ep->posts().post_send(local_, 1, kUnsignalledFlag), kOk);
  EXPECT_EQ(pair.sends.back().flags, hca::kSignaled | hca::kQuiet);
  EXPECT_EQ(ep->posts().post_recv(local_, 1, kUnsignalledFlag), kOk);
  EXPECT_EQ(pair.recvs.back().flags, hca::kQuiet + 0u);
  EXPECT_EQ(ep->posts().post_send(local_, 1, 0), kOk);
  EXPECT_EQ(pair.sends.back().flags, hca::kSignaled + 0u);
}

TEST_F(EndpointPostTest, UnknownAndMisplacedFlagsAreRefused) {
  const RemoteBuffer remote{0, 128, 1};
  for (const std::uint32_t flags : {0x10u, 0x20u, 0x400u, 0x80000000u}) {
    EXPECT_EQ(ep_->posts().post_send(local_, 1, flags), invalid_parameter(StatusDetail::kInvalidArg5));
  }
  EXPECT_EQ(ep_->posts().post_rdma_write(local_, 1, remote, kSolicitedWaitFlag),
            invalid_parameter(StatusDetail::kInvalidArg6));
  EXPECT_EQ(ep_->posts().post_recv(local_, 1, kSuppressFlag), invalid_parameter(StatusDetail::kInvalidArg5));
  EXPECT_EQ(ep_->posts().post_recv(local_, 1, kBarrierFenceFlag), invalid_parameter(StatusDetail::kInvalidArg5));
}

// "The size of the remote buffer is too small for the data of the local buffer", and the other way.
TEST_F(EndpointPostTest, LengthsMustFit) {
  const Status too_short{StatusType::kLengthError};
  EXPECT_EQ(ep_->posts().post_rdma_write(local_, 1, {0, 127, 1}, 0), too_short);
  EXPECT_EQ(ep_->posts().post_rdma_read(local_, 1, {0, 129, 1}, 0), too_short);
  EXPECT_EQ(ep_->posts().post_rdma_write(local_, 1, {0, 4096, 1}, 0), kOk);
  EXPECT_EQ(ep_->posts().post_rdma_write({}, 1, {0, 0, 1}, 0), kOk);
}

// All the data of the remote buffer is read, and no more: the last segments stay untouched.
TEST_F(EndpointPostTest, ReadTakesTheLengthOfTheRemoteBuffer) {
  ASSERT_EQ(ep_->posts().post_rdma_read(local_, 1, {0, 101, 1}, 0), kOk);
  ASSERT_EQ(queue_pair().sends.back().local.size(), 2u);
  EXPECT_EQ(queue_pair().sends.back().local[0].length, 100u);
  EXPECT_EQ(queue_pair().sends.back().local[1].length, 1u);
  ASSERT_EQ(ep_->posts().post_rdma_read(local_, 1, {0, 60, 1}, 0), kOk);
  ASSERT_EQ(queue_pair().sends.back().local.size(), 1u);
  EXPECT_EQ(queue_pair().sends.back().local[0].length, 60u);
  ASSERT_EQ(ep_->posts().post_rdma_read(local_, 1, {0, 0, 1}, 0), kOk);
  EXPECT_TRUE(queue_pair().sends.back().local.empty());
}

TEST_F(EndpointPostTest, RefusalsOfTheDeviceAreTranslated) {
  const auto send = [&](hca::Error error) {
    queue_pair().next_refusal = error;
    return ep_->posts().post_send(local_, 1, 0);
  };
  const auto recv = [&](hca::Error error) {
    queue_pair().next_refusal = error;
    return ep_->posts().post_recv(local_, 1, 0);
  };
  EXPECT_EQ(send(hca::Error::kBadKey), (Status{StatusType::kPrivilegesViolation, StatusDetail::kPrivilegesRead}));
  EXPECT_EQ(recv(hca::Error::kMissingRight),
            (Status{StatusType::kPrivilegesViolation, StatusDetail::kPrivilegesWrite}));
  EXPECT_EQ(send(hca::Error::kWrongDomain), (Status{StatusType::kProtectionViolation, StatusDetail::kProtectionRead}));
  EXPECT_EQ(recv(hca::Error::kWrongDomain), (Status{StatusType::kProtectionViolation, StatusDetail::kProtectionWrite}));
  EXPECT_EQ(send(hca::Error::kOutOfRange), invalid_parameter(StatusDetail::kInvalidArg3));
  EXPECT_EQ(recv(hca::Error::kInvalidArgument), invalid_parameter(StatusDetail::kInvalidArg2));
  EXPECT_EQ(recv(hca::Error::kLimitReached).type, StatusType::kInsufficientResources);
  EXPECT_TRUE(queue_pair().sends.empty());
  EXPECT_TRUE(queue_pair().recvs.empty());
}

TEST_F(EndpointPostTest, TooManySegmentsAreRefused) {
  const std::vector<Segment> many(300, Segment{0, 1, 1});
  EXPECT_EQ(ep_->posts().post_send(many, 1, 0), invalid_parameter(StatusDetail::kInvalidArg2));
  EXPECT_EQ(ep_->posts().post_recv(many, 1, 0), invalid_parameter(StatusDetail::kInvalidArg2));
  EXPECT_EQ(ep_->posts().post_rdma_read(many, 1, {0, 300, 1}, 0), invalid_parameter(StatusDetail::kInvalidArg2));
  EXPECT_EQ(ep_->posts().post_rdma_write(many, 1, {0, 300, 1}, 0), invalid_parameter(StatusDetail::kInvalidArg2));
}

// "If the operation returns successfully for the Endpoint in the DAT_EP_STATE_DISCONNECTED state,
// the posted Send is immediately flushed"
TEST_F(EndpointPostTest, DisconnectedEndpointFlushes) {
  ASSERT_EQ(ep_->connection().disconnect(false), kOk);
  ASSERT_EQ(ep_->posts().post_send(local_, 5, 0), kOk);
  ASSERT_EQ(ep_->posts().post_recv(local_, 6, 0), kOk);
  EXPECT_EQ(next(request_).status, DtoStatus::kFlushed);
  EXPECT_EQ(next(recv_).status, DtoStatus::kFlushed);
  EXPECT_TRUE(ep_->status().is_request_idle);
}

// A length of 2^32 + 5 is not 5.
TEST_F(EndpointPostTest, ReadIntoAWindowTakesNoLengthBeyond32Bits) {
  for (const std::uint64_t length : {(std::uint64_t{1} << 32) + 5, std::uint64_t{1} << 32, ~std::uint64_t{0}}) {
    EXPECT_EQ(ep_->posts().post_rdma_read_to_rmr({0x1000, length, 7}, 1, {0x5000, length, 9}, 0), length_error())
        << length;
  }
  EXPECT_TRUE(queue_pair().sends.empty());
  ASSERT_EQ(ep_->posts().post_rdma_read_to_rmr({0x1000, 0xffffffff, 7}, 1, {0x5000, 0xffffffff, 9}, 0), kOk);
  EXPECT_EQ(queue_pair().sends.front().local.front().length, 0xffffffffu);
}

}  // namespace
}  // namespace softdat::object
