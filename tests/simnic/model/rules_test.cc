// SPDX-License-Identifier: BSD-2-Clause
// What a device cannot carry out is refused when it is posted, with the rule that refuses it.
#include "simnic/model/profile_file.h"
#include "tests/simnic/world.h"

namespace softdat::simnic::testing {
namespace {

using hca::Rule;

class PostRulesTest : public ConnectedTest {
 protected:
  // Our own NIC has a profile that says so.
  void use_profile(const std::string& text) {
    auto profile = model::read_profile("test", "name = \"test\"\ntransport = \"infiniband\"\n" + text);
    ASSERT_TRUE(profile.ok()) << profile.reason();
    TearDown();
    world_ = std::make_unique<World>(std::make_shared<const model::Profile>(std::move(profile).value()));
    active_ = std::make_unique<Endpoint>(here());
    passive_ = std::make_unique<Endpoint>(there());
    world_->connect(*active_, *passive_);
  }
  Rule rule_of(const hca::SendRequest& request) const { return active_->qp().explain(request).rule; }
};

TEST_F(PostRulesTest, AtomicsAndImmediateDataThatItLacksAreUnsupported) {
  use_profile("[features]\natomics = false\nimmediate = false");
  Memory local(here(), 8), remote(there(), 8);
  EXPECT_EQ(reason(active_->fetch_add(1, local.all(), remote, 0, 1)), hca::Error::kUnsupported);
  EXPECT_EQ(reason(active_->compare_swap(2, local.all(), remote, 0, 1, 2)), hca::Error::kUnsupported);
  EXPECT_EQ(reason(active_->write_immediate(3, {local.all()}, remote, 4)), hca::Error::kUnsupported);
  expect_ok(active_->write(4, {local.all()}, remote));
  settle();
  EXPECT_EQ(active_->sends(), "4:ok");
  EXPECT_EQ(rule_of({.opcode = hca::SendOpcode::kFetchAdd, .local = {}}), Rule::kNotOffered);
}

TEST_F(PostRulesTest, WhatItHasIsCarriedOut) {
  use_profile("[features]\natomics = true\nimmediate = true\n[limits]\nmax_message_size = 8");
  Memory local(here(), 8), remote(there(), 8);
  expect_ok(passive_->recv(1, {}));
  expect_ok(active_->fetch_add(1, local.all(), remote, 0, 1));
  expect_ok(active_->write_immediate(2, {local.all()}, remote, 4));
  settle();
  EXPECT_EQ(active_->sends(), "1:ok 2:ok");
}

TEST_F(PostRulesTest, AReadTakesAsManySegmentsAsTheDevice) {
  use_profile("[limits]\nmax_read_sge = 2");
  Memory local(here(), 8), remote(there(), 8);
  expect_ok(active_->read(1, {local.segment(0, 1), local.segment(1, 1)}, remote));
  const Segments three{local.segment(0, 1), local.segment(1, 1), local.segment(2, 1)};
  EXPECT_EQ(reason(active_->read(2, three, remote)), hca::Error::kInvalidArgument);
  const hca::Failure failure =
      active_->qp().explain(hca::SendRequest{.opcode = hca::SendOpcode::kRead, .local = three});
  EXPECT_EQ(failure.rule, Rule::kTooManySegments);
  EXPECT_EQ(failure.length, 3u);
  EXPECT_EQ(failure.room, 2u);
  expect_ok(active_->write(3, three, remote));
  settle();
  EXPECT_EQ(active_->sends(), "1:ok 3:ok");
}

TEST_F(PostRulesTest, AMessageIsAsLongAsTheDeviceAllows) {
  use_profile("[limits]\nmax_message_size = 16");
  Memory local(here(), 17), remote(there(), 17);
  expect_ok(active_->write(1, {local.segment(0, 16)}, remote));
  EXPECT_EQ(reason(active_->write(2, {local.segment(0, 17)}, remote)), hca::Error::kInvalidArgument);
  EXPECT_EQ(reason(active_->send(3, {local.segment(0, 17)})), hca::Error::kInvalidArgument);
  const hca::Segment whole = local.all();
  const hca::Failure failure = active_->qp().explain(hca::SendRequest{.local = {&whole, 1}});
  EXPECT_EQ(failure.rule, Rule::kMessageTooLong);
  EXPECT_EQ(failure.length, 17u);
  EXPECT_EQ(failure.room, 16u);
  settle();
  EXPECT_EQ(active_->sends(), "1:ok");
}

TEST_F(PostRulesTest, AReadMayNeedRemoteWriteToItsOwnMemory) {
  use_profile("[quirks]\nread_sink_needs_remote_write = true");
  EXPECT_TRUE(here().nic().attributes().needs_remote_write_to_read);
  Memory open(here(), 8), closed(here(), 8, hca::kLocalWrite), remote(there(), 8);
  EXPECT_EQ(reason(active_->read(1, {closed.all()}, remote)), hca::Error::kMissingRight);
  expect_ok(active_->read(2, {open.all()}, remote));
  const hca::Segment sink = closed.all();
  const hca::Failure failure =
      active_->qp().explain(hca::SendRequest{.opcode = hca::SendOpcode::kRead, .local = {&sink, 1}});
  EXPECT_EQ(failure.rule, Rule::kMissingRight);
  EXPECT_EQ(failure.needed & hca::kRemoteWrite, hca::AccessMask{hca::kRemoteWrite});
  settle();
  EXPECT_EQ(active_->sends(), "2:ok");
}

TEST_F(PostRulesTest, ASendThatInvalidatesMayBeLacking) {
  use_profile("[features]\nsend_with_invalidate = false");
  EXPECT_EQ(reason(active_->qp().post_send({.opcode = hca::SendOpcode::kSendInvalidate, .rkey = 0x100, .local = {}})),
            hca::Error::kUnsupported);
}

TEST_F(PostRulesTest, StateComesFirst) {
  use_profile("[features]\natomics = false");
  Endpoint idle(here());
  Memory local(here(), 8), remote(there(), 8);
  EXPECT_EQ(reason(idle.fetch_add(1, local.all(), remote, 0, 1)), hca::Error::kInvalidState);
}

}  // namespace
}  // namespace softdat::simnic::testing
