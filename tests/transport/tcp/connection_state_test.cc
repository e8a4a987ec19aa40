// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/connection_state.h"

#include <gtest/gtest.h>

namespace softdat::transport::tcp {
namespace {

template <typename Check>
void for_every_pair(Check check) {
  for (std::size_t state = 0; state < kStateCount; ++state) {
    for (std::size_t event = 0; event < kEventCount; ++event) {
      check(static_cast<State>(state), static_cast<Event>(event));
    }
  }
}

TEST(ConnectionState, EveryStateButTheLastCanEndAndNothingLeavesTheLast) {
  for_every_pair([](State state, Event event) {
    if (state == State::kClosed) {
      EXPECT_FALSE(step_of(state, event));
    } else if (event == Event::kEnd) {
      EXPECT_EQ(step_of(state, event), State::kClosed);
    }
  });
}

TEST(ConnectionState, EveryEventLeadsToItsOwnState) {
  const State expected[kEventCount] = {State::kAwaitingReply, State::kDialing, State::kRequested, State::kHolding,
                                       State::kConfirming,    State::kOpen,    State::kDraining,  State::kClosed};
  for_every_pair([&](State state, Event event) {
    const Step step = step_of(state, event);
    if (step) {
      EXPECT_EQ(*step, expected[static_cast<std::size_t>(event)]);
    }
  });
}

TEST(ConnectionState, WhoeverHasASocketThatSpeaksCanDrain) {
  for_every_pair([](State state, Event event) {
    if (event != Event::kDrain) return;
    const bool has_nothing_to_say = state == State::kDialing || state >= State::kDraining;
    EXPECT_EQ(step_of(state, event).has_value(), !has_nothing_to_say);
  });
}

TEST(ConnectionState, MessagesComeOnlyAfterTheHandshakeAndBeforeTheEnd) {
  for_every_pair([](State state, Event) {
    EXPECT_EQ(is_receiving_state(state), state >= State::kConfirming && state <= State::kOpen);
  });
}

}  // namespace
}  // namespace softdat::transport::tcp
