// SPDX-License-Identifier: BSD-2-Clause
// The life of a queue pair, as one table. hca/connection.h says what is true in each state.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "hca/connection.h"

namespace softdat::verbs {

enum class QueuePairEvent : std::uint8_t {
  kConnect,    // the consumer asks a peer
  kAccept,     // the consumer answers a peer
  kEstablish,  // the connection manager says that data flows
  kRefuse,     // no connection came about, whoever did not want it
  kEnd,        // the peer has disconnected, or the connection broke
  kDrain,      // the consumer wants to disconnect gracefully
  kCut,        // the consumer wants to disconnect at once, or what was posted has drained
  kReset,      // the consumer wants to start anew
};

inline constexpr std::size_t kQueuePairStates = 6;
inline constexpr std::size_t kQueuePairEvents = 8;

namespace queue_pair_state {

using enum hca::QueuePairState;
using Next = std::optional<hca::QueuePairState>;
inline constexpr Next kNo = std::nullopt;

// Rows: the present state. Columns: the event, in the order of the enumeration above.
// A refused event changes nothing.
// clang-format off
inline constexpr std::array<std::array<Next, kQueuePairEvents>, kQueuePairStates> kTable{{
    //                kConnect     kAccept     kEstablish  kRefuse kEnd    kDrain          kCut    kReset
    /* idle */       {kConnecting, kAccepting, kNo,        kNo,    kNo,    kNo,            kNo,    kIdle},
    /* connecting */ {kNo,         kNo,        kConnected, kError, kError, kNo,            kError, kNo},
    /* accepting */  {kNo,         kNo,        kConnected, kError, kError, kNo,            kError, kNo},
    /* connected */  {kNo,         kNo,        kNo,        kNo,    kError, kDisconnecting, kError, kNo},
    /* disconn. */   {kNo,         kNo,        kNo,        kNo,    kError, kDisconnecting, kError, kNo},
    /* error */      {kNo,         kNo,        kNo,        kNo,    kNo,    kNo,            kNo,    kIdle},
}};
// clang-format on

}  // namespace queue_pair_state

// The state after `event`, or nothing when it is refused in `state`.
constexpr std::optional<hca::QueuePairState> next_state(hca::QueuePairState state, QueuePairEvent event) {
  return queue_pair_state::kTable[static_cast<std::size_t>(state)][static_cast<std::size_t>(event)];
}

}  // namespace softdat::verbs
