// SPDX-License-Identifier: BSD-2-Clause
// The states of one TCP connection, and which event leads where.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace softdat::transport::tcp {

enum class State : std::uint8_t {
  kDialing,          // TCP connects to one of the service's ports
  kAwaitingReply,    // our MPA request is out
  kAwaitingRequest,  // accepted by TCP; the peer has yet to say what it wants
  kRequested,        // the consumer has the peer's request and has not answered
  kConfirming,       // our yes is out; the peer's first FPDU confirms it
  kHolding,          // agreed with a foreign peer that is not to hear from us for some milliseconds
  kOpen,             // messages flow
  kDraining,         // closed; last bytes go out, then our FIN; whatever comes is dropped
  kClosed,           // no socket any more
};
inline constexpr std::size_t kStateCount = 9;

enum class Event : std::uint8_t {
  kConnected,  // TCP connected and our request went out
  kRedial,     // not here: on to the next port
  kRequest,    // a whole request came
  kHold,       // agreed; wait a moment
  kConfirm,    // agreed; wait for the peer's word
  kOpen,       // the moment is over, or the word has come
  kDrain,      // we end it
  kEnd,        // the socket is gone
};
inline constexpr std::size_t kEventCount = 8;

using Step = std::optional<State>;  // nothing: that event cannot happen there
inline constexpr Step kNo = std::nullopt;

// Rows by State, columns by Event.
inline constexpr std::array<std::array<Step, kEventCount>, kStateCount> kSteps{{
    // kConnected, kRedial, kRequest, kHold, kConfirm, kOpen, kDrain, kEnd
    {State::kAwaitingReply, State::kDialing, kNo, kNo, kNo, kNo, kNo, State::kClosed},
    {kNo, State::kDialing, kNo, State::kHolding, kNo, State::kOpen, State::kDraining, State::kClosed},
    {kNo, kNo, State::kRequested, kNo, kNo, kNo, State::kDraining, State::kClosed},
    {kNo, kNo, kNo, State::kHolding, State::kConfirming, kNo, State::kDraining, State::kClosed},
    {kNo, kNo, kNo, kNo, kNo, State::kOpen, State::kDraining, State::kClosed},
    {kNo, kNo, kNo, kNo, kNo, State::kOpen, State::kDraining, State::kClosed},
    {kNo, kNo, kNo, kNo, kNo, kNo, State::kDraining, State::kClosed},
    {kNo, kNo, kNo, kNo, kNo, kNo, kNo, State::kClosed},
    {kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo},
}};

constexpr Step step_of(State state, Event event) {
  return kSteps[static_cast<std::size_t>(state)][static_cast<std::size_t>(event)];
}

// Whether messages from the peer may come.
constexpr bool is_receiving_state(State state) {
  return state == State::kConfirming || state == State::kHolding || state == State::kOpen;
}

}  // namespace softdat::transport::tcp
