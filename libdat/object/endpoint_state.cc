// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/endpoint_state.h"

namespace softdat::object {
namespace {

using enum EndpointState;
using State = EndpointState;

constexpr int kRows = 9;
constexpr State kRowStates[kRows] = {kUnconnected,
                                     kReserved,
                                     kPassiveConnectionPending,
                                     kActiveConnectionPending,
                                     kTentativeConnectionPending,
                                     kConnected,
                                     kDisconnectPending,
                                     kDisconnected,
                                     kCompletionPending};

constexpr int kNo = -1;  // refused, or cannot happen

constexpr int to(State state) {
  return static_cast<int>(state);
}

constexpr int U = to(kUnconnected);
constexpr int R = to(kReserved);
constexpr int P = to(kPassiveConnectionPending);
constexpr int A = to(kActiveConnectionPending);
constexpr int T = to(kTentativeConnectionPending);
constexpr int C = to(kConnected);
constexpr int G = to(kDisconnectPending);
constexpr int D = to(kDisconnected);
constexpr int F = to(kCompletionPending);
constexpr int N = kNo;

// clang-format off
// Rows as kRowStates; columns as EndpointEvent. A freed EP is said to become UNCONNECTED, for want
// of a state. An abrupt disconnect ends in DISCONNECTED at once, as far as the consumer can see.
constexpr int kTable[kRows][kEndpointEventCount] = {
    // connect reserve accept graceful abrupt reset free request receive zone other arrived rejected established refused drained broken
    /* U */ {A, R, F, N, N, U, U, N, U, U, U, N, N, N, N, N, N},
    /* R */ {N, N, N, N, N, N, N, N, R, N, R, P, U, N, N, N, N},
    /* P */ {N, N, F, N, N, N, N, N, P, N, P, N, U, N, N, N, N},
    /* A */ {N, N, N, D, D, N, U, N, A, N, N, N, N, C, D, N, D},
    /* T */ {N, N, F, N, N, N, N, N, T, T, T, N, U, N, N, N, N},
    /* C */ {N, N, N, G, D, N, U, C, C, N, N, N, N, N, N, D, D},
    /* G */ {N, N, N, G, D, N, U, N, G, N, N, N, N, N, N, D, D},
    /* D */ {N, N, N, D, D, U, U, D, D, N, N, N, N, N, N, N, N},
    /* F */ {N, N, N, D, D, N, U, N, F, N, N, N, N, C, D, N, D},
};
// clang-format on

constexpr int row_of(State state) {
  for (int row = 0; row < kRows; ++row) {
    if (kRowStates[row] == state) return row;
  }
  return 0;
}

}  // namespace

std::optional<EndpointState> next_state(EndpointState state, EndpointEvent event) {
  const int next = kTable[row_of(state)][static_cast<int>(event)];
  if (next == kNo) return std::nullopt;
  return static_cast<EndpointState>(next);
}

EndpointState state_of(hca::QueuePairState queue_pair, Reservation reservation) {
  switch (queue_pair) {
    case hca::QueuePairState::kIdle:
      break;
    case hca::QueuePairState::kConnecting:
      return kActiveConnectionPending;
    case hca::QueuePairState::kAccepting:
      return kCompletionPending;
    case hca::QueuePairState::kConnected:
      return kConnected;
    case hca::QueuePairState::kDisconnecting:
      return kDisconnectPending;
    case hca::QueuePairState::kError:
      return kDisconnected;
  }
  switch (reservation) {
    case Reservation::kNone:
      return kUnconnected;
    case Reservation::kReserved:
      return kReserved;
    case Reservation::kPassive:
      return kPassiveConnectionPending;
    case Reservation::kTentative:
      return kTentativeConnectionPending;
  }
  return kUnconnected;
}

EndpointState reported_state(EndpointState state) {
  return state == kCompletionPending ? kPassiveConnectionPending : state;
}

Status wrong_state(EndpointState state) {
  switch (state) {
    case kUnconnected:
      return invalid_state(StatusDetail::kInvalidStateEpUnconnected);
    case kReserved:
      return invalid_state(StatusDetail::kInvalidStateEpReserved);
    case kPassiveConnectionPending:
      return invalid_state(StatusDetail::kInvalidStateEpPassconnpending);
    case kActiveConnectionPending:
      return invalid_state(StatusDetail::kInvalidStateEpActconnpending);
    case kTentativeConnectionPending:
      return invalid_state(StatusDetail::kInvalidStateEpTentconnpending);
    case kConnected:
      return invalid_state(StatusDetail::kInvalidStateEpConnected);
    case kDisconnectPending:
      return invalid_state(StatusDetail::kInvalidStateEpDiscpending);
    case kDisconnected:
      return invalid_state(StatusDetail::kInvalidStateEpDisconnected);
    case kCompletionPending:
      return invalid_state(StatusDetail::kInvalidStateEpComplpending);
  }
  return invalid_state(StatusDetail::kInvalidStateEpNotready);
}

const char* name_of(EndpointState state) {
  switch (state) {
    case kUnconnected:
      return "UNCONNECTED";
    case kReserved:
      return "RESERVED";
    case kPassiveConnectionPending:
      return "PASSIVE_CONNECTION_PENDING";
    case kActiveConnectionPending:
      return "ACTIVE_CONNECTION_PENDING";
    case kTentativeConnectionPending:
      return "TENTATIVE_CONNECTION_PENDING";
    case kConnected:
      return "CONNECTED";
    case kDisconnectPending:
      return "DISCONNECT_PENDING";
    case kDisconnected:
      return "DISCONNECTED";
    case kCompletionPending:
      return "COMPLETION_PENDING";
  }
  return "?";
}

const char* name_of(EndpointEvent event) {
  static constexpr const char* kNames[kEndpointEventCount] = {"connect",
                                                              "reserve",
                                                              "accept",
                                                              "disconnect (graceful)",
                                                              "disconnect",
                                                              "reset",
                                                              "free",
                                                              "post request",
                                                              "post receive",
                                                              "modify PZ",
                                                              "modify",
                                                              "request arrived",
                                                              "request rejected",
                                                              "established",
                                                              "refused",
                                                              "drained",
                                                              "broken"};
  return kNames[static_cast<int>(event)];
}

}  // namespace softdat::object
