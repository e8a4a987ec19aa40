// SPDX-License-Identifier: BSD-2-Clause
// The life of a queue pair, as one table. hca/connection.h says what is true in each state.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "hca/connection.h"

namespace softdat::simnic {

enum class QueuePairEvent : std::uint8_t {
  kConnect,    // the consumer asks a peer
  kAccept,     // the consumer answers a peer
  kEstablish,  // the peer said yes, or confirmed ours
  kRefuse,     // the peer said no, or could not be reached
  kExpire,     // no answer came in time
  kClose,      // the channel is dead: the peer's bye, its death, its Terminate, our carrier's fault
  kFail,       // we broke the connection: a peer's or our own access failed
  kDrain,      // the consumer wants to disconnect gracefully
  kCut,        // the consumer wants to disconnect at once
  kDrained,    // what was posted before kDrain has completed
  kReset,      // the consumer wants to start anew
};

inline constexpr std::size_t kQueuePairStates = 6;
inline constexpr std::size_t kQueuePairEvents = 11;

namespace queue_pair_state {

using enum hca::QueuePairState;
using Next = std::optional<hca::QueuePairState>;
inline constexpr Next kNo = std::nullopt;

// Rows: the present state. Columns: the event, in the order of the enumeration above.
// A refused event changes nothing.
// clang-format off
inline constexpr std::array<std::array<Next, kQueuePairEvents>, kQueuePairStates> kTable{{
    //                kConnect     kAccept     kEstablish  kRefuse kExpire kClose  kFail   kDrain          kCut    kDrained kReset
    /* idle */       {kConnecting, kAccepting, kNo,        kNo,    kNo,    kNo,    kNo,    kNo,            kNo,    kNo,    kIdle},
    /* connecting */ {kNo,         kNo,        kConnected, kError, kError, kError, kError, kError,         kError, kNo,    kNo},
    /* accepting */  {kNo,         kNo,        kConnected, kNo,    kNo,    kError, kError, kError,         kError, kNo,    kNo},
    /* connected */  {kNo,         kNo,        kNo,        kNo,    kNo,    kError, kError, kDisconnecting, kError, kNo,    kNo},
    /* disconn. */   {kNo,         kNo,        kNo,        kNo,    kNo,    kError, kError, kDisconnecting, kError, kError, kNo},
    /* error */      {kNo,         kNo,        kNo,        kNo,    kNo,    kNo,    kNo,    kError,         kError, kNo,    kIdle},
}};
// clang-format on

}  // namespace queue_pair_state

// The state after `event`, or nothing when it is refused in `state`.
constexpr std::optional<hca::QueuePairState> next_state(hca::QueuePairState state, QueuePairEvent event) {
  return queue_pair_state::kTable[static_cast<std::size_t>(state)][static_cast<std::size_t>(event)];
}

}  // namespace softdat::simnic
