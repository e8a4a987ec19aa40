// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/queue_pair_state.h"

#include <gtest/gtest.h>

namespace softdat::verbs {
namespace {

using enum hca::QueuePairState;
using enum QueuePairEvent;

constexpr hca::QueuePairState kStates[] = {kIdle, kConnecting, kAccepting, kConnected, kDisconnecting, kError};

TEST(QueuePairStateTest, ConnectionsBeginIdle) {
  EXPECT_EQ(next_state(kIdle, kConnect), kConnecting);
  EXPECT_EQ(next_state(kIdle, kAccept), kAccepting);
  for (const auto state : kStates) {
    if (state == kIdle) continue;
    EXPECT_FALSE(next_state(state, kConnect).has_value());
    EXPECT_FALSE(next_state(state, kAccept).has_value());
  }
}

TEST(QueuePairStateTest, OnlyWhatIsPendingIsEstablished) {
  for (const auto state : kStates) {
    const bool is_pending = state == kConnecting || state == kAccepting;
    EXPECT_EQ(next_state(state, kEstablish).has_value(), is_pending);
    EXPECT_EQ(next_state(state, kRefuse).has_value(), is_pending);
  }
}

// So every connection's end is told once.
TEST(QueuePairStateTest, ErrorIsLeftByResetAlone) {
  for (const auto event : {kConnect, kAccept, kEstablish, kRefuse, kEnd, kDrain, kCut}) {
    EXPECT_FALSE(next_state(kError, event).has_value());
  }
  EXPECT_EQ(next_state(kError, kReset), kIdle);
  for (const auto state : {kConnecting, kAccepting, kConnected, kDisconnecting}) {
    EXPECT_EQ(next_state(state, kEnd), kError);
    EXPECT_EQ(next_state(state, kCut), kError);
    EXPECT_FALSE(next_state(state, kReset).has_value());
  }
}

}  // namespace
}  // namespace softdat::verbs
