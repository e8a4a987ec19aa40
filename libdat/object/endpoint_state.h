// SPDX-License-Identifier: BSD-2-Clause
// The states of an EP and their transitions. No object stores such a state: it is computed from the state of the queue
// pair and from the reservation by a service point. docs/STATES.md shows the table; tests compare the objects with it.
#pragma once

#include <cstdint>
#include <optional>

#include "hca/connection.h"
#include "libdat/object/status.h"

namespace softdat::object {

// Numbered as DAT_EP_STATE of both ABIs.
enum class EndpointState : std::uint8_t {
  kUnconnected = 0,                 // may be connected, reserved, accepted with
  kReserved = 2,                    // waits for its RSP's one request
  kPassiveConnectionPending = 4,    // its RSP's request has come and is not answered
  kActiveConnectionPending = 6,     // dat_ep_connect is under way
  kTentativeConnectionPending = 7,  // made by the provider for a request that is not answered
  kConnected = 9,                   // data flows
  kDisconnectPending = 10,          // graceful disconnect: requests drain, new ones are refused
  kDisconnected = 11,               // everything posted is flushed, until dat_ep_reset
  kCompletionPending = 12,          // dat_cr_accept is under way
};

enum class EndpointEvent : std::uint8_t {
  // calls of the consumer
  kConnect,
  kReserve,  // dat_rsp_create
  kAccept,   // dat_cr_accept
  kDisconnectGraceful,
  kDisconnectAbrupt,
  kReset,
  kFree,
  kPostRequest,
  kPostReceive,
  kModifyZone,   // PZ
  kModifyOther,  // EVDs and attributes
  // events
  kRequestArrived,   // at the RSP that reserved the EP
  kRequestRejected,  // dat_cr_reject of the request that holds the EP; its RSP freed
  kEstablished,
  kRefused,  // rejected, unreachable, timed out, accept failed
  kDrained,  // a graceful disconnect has come to its end, or the peer's
  kBroken,
};
inline constexpr int kEndpointEventCount = 17;

// What holds an EP that is not connected.
enum class Reservation : std::uint8_t { kNone, kReserved, kPassive, kTentative };

// The next state; empty if the event is refused or cannot happen.
std::optional<EndpointState> next_state(EndpointState state, EndpointEvent event);

// The EP's state in DAT's terms.
EndpointState state_of(hca::QueuePairState queue_pair, Reservation reservation);

// The state that dat_ep_get_status reports: one of the eight on its page. kCompletionPending is reported as
// kPassiveConnectionPending (docs/decisions/0006).
EndpointState reported_state(EndpointState state);

// INVALID_STATE with the subtype of that state.
Status wrong_state(EndpointState state);

const char* name_of(EndpointState state);
const char* name_of(EndpointEvent event);

}  // namespace softdat::object
