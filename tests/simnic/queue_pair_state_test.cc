// SPDX-License-Identifier: BSD-2-Clause
// Walks every pair of state and event against the rules said in words.
#include "simnic/queue_pair_state.h"

#include <gtest/gtest.h>

namespace softdat::simnic {
namespace {

using State = hca::QueuePairState;
using Event = QueuePairEvent;

constexpr State kStates[] = {State::kIdle,      State::kConnecting,    State::kAccepting,
                             State::kConnected, State::kDisconnecting, State::kError};
constexpr Event kEvents[] = {Event::kConnect, Event::kAccept,  Event::kEstablish, Event::kRefuse,
                             Event::kExpire,  Event::kClose,   Event::kFail,      Event::kDrain,
                             Event::kCut,     Event::kDrained, Event::kReset};
static_assert(std::size(kStates) == kQueuePairStates && std::size(kEvents) == kQueuePairEvents);

bool has_channel(State state) {
  return state != State::kIdle && state != State::kError;
}

// The rules, apart from the table.
std::optional<State> expected(State state, Event event) {
  switch (event) {
    case Event::kConnect:
      return state == State::kIdle ? std::optional(State::kConnecting) : std::nullopt;
    case Event::kAccept:
      return state == State::kIdle ? std::optional(State::kAccepting) : std::nullopt;
    case Event::kEstablish:
      return state == State::kConnecting || state == State::kAccepting ? std::optional(State::kConnected)
                                                                       : std::nullopt;
    case Event::kRefuse:
    case Event::kExpire:
      return state == State::kConnecting ? std::optional(State::kError) : std::nullopt;
    case Event::kClose:
    case Event::kFail:
      return has_channel(state) ? std::optional(State::kError) : std::nullopt;
    case Event::kDrain:
      if (state == State::kConnected || state == State::kDisconnecting) return State::kDisconnecting;
      return state == State::kIdle ? std::nullopt : std::optional(State::kError);
    case Event::kCut:
      return state == State::kIdle ? std::nullopt : std::optional(State::kError);
    case Event::kDrained:
      return state == State::kDisconnecting ? std::optional(State::kError) : std::nullopt;
    case Event::kReset:
      return has_channel(state) ? std::nullopt : std::optional(State::kIdle);
  }
  return std::nullopt;
}

TEST(QueuePairStateTest, TheTableSaysWhatTheRulesSay) {
  for (const State state : kStates) {
    for (const Event event : kEvents) {
      EXPECT_EQ(next_state(state, event), expected(state, event))
          << "state " << static_cast<int>(state) << " event " << static_cast<int>(event);
    }
  }
}

TEST(QueuePairStateTest, EveryStateCanBeLeftForErrorAndErrorForIdle) {
  for (const State state : kStates) {
    if (has_channel(state)) {
      EXPECT_EQ(next_state(state, Event::kCut), State::kError);
    }
  }
  EXPECT_EQ(next_state(State::kError, Event::kReset), State::kIdle);
}

}  // namespace
}  // namespace softdat::simnic
