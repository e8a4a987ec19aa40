// SPDX-License-Identifier: BSD-2-Clause
// What is posted and completes again and again takes a shorter way than the first time. Nobody may notice.
#include <gtest/gtest.h>

#include "tests/verbs/stand.h"

namespace softdat::verbs {
namespace {

using hca::CompletionOpcode;
using hca::SendOpcode;

constexpr std::uint32_t kLkey = 7;

class UsualWorkTest : public testing::Test {
 protected:
  void SetUp() override {
    stand_.memory().insert({.address = 0x1000,
                            .length = 0x1000,
                            .access = hca::kLocalWrite,
                            .domain = 1,
                            .lkey = kLkey,
                            .rkey = kLkey,
                            .mr = nullptr});
    Stand::accept(*queue_pair_);
    ASSERT_EQ(consumer_.await(1).size(), 1u);
  }
  hca::Outcome post(SendOpcode opcode, const hca::Segment& segment, std::uint32_t flags = hca::kSignaled) {
    return queue_pair_->post_send({.wr_id = ++last_id_,
                                   .opcode = opcode,
                                   .flags = flags,
                                   .rkey = 0x55,
                                   .remote_address = 0x7000,
                                   .local = {&segment, 1}});
  }
  hca::Completion take() {
    hca::Completion completion{};
    EXPECT_EQ(queue_->poll({&completion, 1}), 1u);
    return completion;
  }
  void complete_send() { fake::complete_sends(device_, 1); }
  void post_recv() {
    const hca::Segment segment{0x1800, 64, kLkey};
    ASSERT_TRUE(queue_pair_->post_recv({.wr_id = ++last_id_, .flags = 0, .local = {&segment, 1}}));
  }
  hca::Completion take_message(std::uint32_t length) {
    post_recv();
    fake::receive(device_, length);
    return take();
  }

  Stand stand_;
  Hearer consumer_;
  std::unique_ptr<CompletionQueue> queue_ = stand_.make_cq(8);
  std::unique_ptr<QueuePair> queue_pair_ = stand_.make_qp(*queue_, 2, &consumer_);
  ibv_qp* const device_ = fake::last_queue_pair();
  std::uint64_t last_id_ = 0;
};

TEST_F(UsualWorkTest, EveryRequestReachesTheDeviceAsItWasPosted) {
  const hca::Segment segments[] = {{0x1000, 8, kLkey}, {0x1010, 16, kLkey}, {0x1020, 0xf00, kLkey}};
  for (const hca::Segment& segment : segments) {
    for (const SendOpcode opcode : {SendOpcode::kSend, SendOpcode::kWrite, SendOpcode::kWrite, SendOpcode::kSend}) {
      ASSERT_TRUE(post(opcode, segment));
      const fake::Given given = fake::last_send();
      EXPECT_EQ(given.work.opcode, opcode == SendOpcode::kSend ? IBV_WR_SEND : IBV_WR_RDMA_WRITE);
      EXPECT_EQ(given.work.next, nullptr);
      EXPECT_NE(given.work.send_flags & IBV_SEND_SIGNALED, 0u);
      EXPECT_EQ((given.work.send_flags & IBV_SEND_INLINE) != 0, segment.length <= 16);
      EXPECT_EQ(given.segment.addr, segment.address);
      EXPECT_EQ(given.segment.length, segment.length);
      EXPECT_EQ(given.segment.lkey, kLkey);
      if (opcode == SendOpcode::kWrite) {
        EXPECT_EQ(given.work.wr.rdma.remote_addr, 0x7000u);
        EXPECT_EQ(given.work.wr.rdma.rkey, 0x55u);
      }
      complete_send();
      take();
    }
  }
}

TEST_F(UsualWorkTest, EverySuccessIsToldAsItWasPosted) {
  for (std::uint32_t length = 8; length < 14; ++length) {
    const bool is_send = length % 2 == 0;
    ASSERT_TRUE(post(is_send ? SendOpcode::kSend : SendOpcode::kWrite, {0x1000, length, kLkey}));
    EXPECT_EQ(queue_pair_->sends_outstanding(), 1u);
    complete_send();
    const hca::Completion done = take();
    EXPECT_EQ(done.wr_id, last_id_);
    EXPECT_EQ(done.length, length);
    EXPECT_EQ(done.status, hca::CompletionStatus::kSuccess);
    EXPECT_EQ(done.opcode, is_send ? CompletionOpcode::kSend : CompletionOpcode::kWrite);
    EXPECT_EQ(done.srq_account, 0u);
    EXPECT_EQ(queue_pair_->sends_outstanding(), 0u);
  }
}

TEST_F(UsualWorkTest, NoMoreIsPostedThanThereIsRoomFor) {
  const hca::Segment segment{0x1000, 8, kLkey};
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(post(SendOpcode::kSend, segment));
  EXPECT_EQ(post(SendOpcode::kSend, segment).reason(), hca::Error::kLimitReached);
  complete_send();
  EXPECT_TRUE(post(SendOpcode::kSend, segment));
}

TEST_F(UsualWorkTest, EveryRequestIsCheckedThoughTheOneBeforeWasGood) {
  ASSERT_TRUE(post(SendOpcode::kSend, {0x1000, 8, kLkey}));
  EXPECT_EQ(post(SendOpcode::kSend, {0x1ffc, 8, kLkey}).reason(), hca::Error::kOutOfRange);
  EXPECT_EQ(post(SendOpcode::kSend, {0xffc, 8, kLkey}).reason(), hca::Error::kOutOfRange);
  EXPECT_EQ(post(SendOpcode::kSend, {0x1000, 8, kLkey + 1}).reason(), hca::Error::kBadKey);
  stand_.memory().remove(kLkey);
  EXPECT_EQ(post(SendOpcode::kSend, {0x1000, 8, kLkey}).reason(), hca::Error::kBadKey);
  EXPECT_EQ(queue_pair_->sends_outstanding(), 1u);
}

// Its entry was that of one whose success was wanted.
TEST_F(UsualWorkTest, SuccessThatNobodyWantsIsNotTold) {
  const hca::Segment segment{0x1000, 8, kLkey};
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(post(SendOpcode::kSend, segment, i < 3 ? hca::kSignaled : 0u));
    complete_send();
    hca::Completion completion;
    EXPECT_EQ(queue_->poll({&completion, 1}), i < 3 ? 1u : 0u);
    EXPECT_EQ(queue_pair_->sends_outstanding(), 0u);
  }
}

TEST_F(UsualWorkTest, EveryMessageIsToldAsItCame) {
  for (std::uint32_t length = 1; length < 6; ++length) {
    const hca::Completion came = take_message(length);
    EXPECT_EQ(came.wr_id, last_id_);
    EXPECT_EQ(came.length, length);
    EXPECT_EQ(came.status, hca::CompletionStatus::kSuccess);
    EXPECT_EQ(came.opcode, CompletionOpcode::kRecv);
    EXPECT_EQ(queue_pair_->recvs_outstanding(), 0u);
  }
  const hca::TransferCounts counts = queue_pair_->transfer_counts();
  const hca::TransferCount& counted = counts[static_cast<std::size_t>(hca::Transfer::kRecv)];
  EXPECT_EQ(counted.number, 5u);
  EXPECT_EQ(counted.bytes, 15u);
}

TEST_F(UsualWorkTest, WhatAMessageBringsIsNotLost) {
  take_message(1);
  post_recv();
  fake::receive(device_, IBV_WC_RECV_RDMA_WITH_IMM, IBV_WC_WITH_IMM, 0x1234);
  const hca::Completion immediate = take();
  EXPECT_EQ(immediate.opcode, CompletionOpcode::kRecvWriteImmediate);
  EXPECT_EQ(immediate.immediate, 0x1234u);
  post_recv();
  fake::receive(device_, IBV_WC_RECV, IBV_WC_WITH_INV, 0x99);
  const hca::Completion voided = take();
  EXPECT_EQ(voided.opcode, CompletionOpcode::kRecvInvalidate);
  EXPECT_EQ(voided.invalidated, 0x99u);
}

}  // namespace
}  // namespace softdat::verbs
