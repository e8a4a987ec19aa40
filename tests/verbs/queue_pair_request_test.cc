// SPDX-License-Identifier: BSD-2-Clause
// A request needs a port of ours. The connection manager chooses one, and TCP may have that one already.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/verbs/stand.h"

namespace softdat::verbs {
namespace {

using testing::ElementsAre;
using enum hca::ConnectionEventType;

// Of docs/BACKENDS.md.
constexpr int kPortsTried = 16;

class QueuePairRequest : public testing::Test {
 protected:
  ~QueuePairRequest() override { fake::take_ports(0); }

  void ask() { ASSERT_TRUE(queue_pair_->connect({.remote = {.ipv4 = 0x0a00'0001}, .private_data = {}})); }

  Stand stand_;
  Hearer consumer_;
  const std::unique_ptr<CompletionQueue> queue_ = stand_.make_cq(8);
  const std::unique_ptr<QueuePair> queue_pair_ = stand_.make_qp(*queue_, 4, &consumer_);
};

TEST_F(QueuePairRequest, PortThatTcpHasIsLeftForAnother) {
  const int ids_before = fake::ids_alive();
  fake::take_ports(3);
  ask();
  EXPECT_THAT(consumer_.await(1), ElementsAre(kEstablished));
  EXPECT_EQ(fake::ports_taken(), 0);
  EXPECT_EQ(fake::ids_alive(), ids_before + 1);
}

TEST_F(QueuePairRequest, PeerIsUnreachableWhereTcpHasPortAfterPort) {
  constexpr int kMany = 1000;
  fake::take_ports(kMany);
  ask();
  EXPECT_THAT(consumer_.await(1), ElementsAre(kUnreachable));
  EXPECT_EQ(kMany - fake::ports_taken(), kPortsTried);
}

TEST_F(QueuePairRequest, EachHasAllItsTries) {
  fake::take_ports(kPortsTried - 1);
  ask();
  EXPECT_THAT(consumer_.await(1), ElementsAre(kEstablished));
  ASSERT_TRUE(queue_pair_->disconnect(false));
  EXPECT_THAT(consumer_.await(2), ElementsAre(kEstablished, kDisconnected));
  ASSERT_TRUE(queue_pair_->reset());
  fake::take_ports(kPortsTried - 1);
  ask();
  EXPECT_THAT(consumer_.await(3), ElementsAre(kEstablished, kDisconnected, kEstablished));
}

}  // namespace
}  // namespace softdat::verbs
