// SPDX-License-Identifier: BSD-2-Clause
// Prints docs/STATES.md from the tables that the code runs on.
#include <array>
#include <cstdio>

#include "libdat/object/endpoint_state.h"
#include "simnic/queue_pair_state.h"

namespace {

using softdat::hca::QueuePairState;
using softdat::object::EndpointEvent;
using softdat::object::EndpointState;
using softdat::simnic::QueuePairEvent;

constexpr std::array kQueuePairStateNames{"idle", "connecting", "accepting", "connected", "disconnecting", "error"};
constexpr std::array kQueuePairStateMeanings{
    "never connected since creation or reset; receives may be posted",
    "`connect()` is under way",
    "`accept()` has answered; the peer's confirmation is still out",
    "data flows",
    "graceful disconnect: posted requests drain, new ones are refused",
    "disconnected, refused or broken: everything posted is flushed, until `reset()`"};
constexpr std::array kQueuePairEventNames{"connect", "accept", "establish", "refuse",  "expire", "close",
                                          "fail",    "drain",  "cut",       "drained", "reset"};
static_assert(kQueuePairStateNames.size() == softdat::simnic::kQueuePairStates);
static_assert(kQueuePairEventNames.size() == softdat::simnic::kQueuePairEvents);

constexpr std::array kEndpointStates{EndpointState::kUnconnected,
                                     EndpointState::kReserved,
                                     EndpointState::kPassiveConnectionPending,
                                     EndpointState::kTentativeConnectionPending,
                                     EndpointState::kActiveConnectionPending,
                                     EndpointState::kCompletionPending,
                                     EndpointState::kConnected,
                                     EndpointState::kDisconnectPending,
                                     EndpointState::kDisconnected};

void print_queue_pair() {
  std::printf("## The queue pair (simnic/queue_pair_state.h)\n\n| state | what is true in it |\n|---|---|\n");
  for (std::size_t state = 0; state < kQueuePairStateNames.size(); ++state) {
    std::printf("| %s | %s |\n", kQueuePairStateNames[state], kQueuePairStateMeanings[state]);
  }
  std::printf("\n| in, on |");
  for (const char* event : kQueuePairEventNames) std::printf(" %s |", event);
  std::printf("\n|---|");
  for (std::size_t i = 0; i < kQueuePairEventNames.size(); ++i) std::printf("---|");
  for (std::size_t state = 0; state < kQueuePairStateNames.size(); ++state) {
    std::printf("\n| **%s** |", kQueuePairStateNames[state]);
    for (std::size_t event = 0; event < kQueuePairEventNames.size(); ++event) {
      const auto next =
          softdat::simnic::next_state(static_cast<QueuePairState>(state), static_cast<QueuePairEvent>(event));
      std::printf(" %s |", next ? kQueuePairStateNames[static_cast<std::size_t>(*next)] : "-");
    }
  }
  std::printf("\n");
}

void print_endpoint() {
  std::printf("\n## The endpoint (libdat/object/endpoint_state.cc)\n\n| on |");
  for (const EndpointState state : kEndpointStates) std::printf(" in %s |", softdat::object::name_of(state));
  std::printf("\n|---|");
  for (std::size_t i = 0; i < kEndpointStates.size(); ++i) std::printf("---|");
  for (int event = 0; event < softdat::object::kEndpointEventCount; ++event) {
    std::printf("\n| **%s** |", softdat::object::name_of(static_cast<EndpointEvent>(event)));
    for (const EndpointState state : kEndpointStates) {
      const auto next = softdat::object::next_state(state, static_cast<EndpointEvent>(event));
      std::printf(" %s |", next ? softdat::object::name_of(*next) : "-");
    }
  }
  std::printf("\n");
}

}  // namespace

int main() {
  std::printf(
      "# States\n\nPrinted from the tables the code runs on by `print_states` (tests/docs); a test compares. A dash is "
      "a "
      "refusal,\nwhich changes nothing.\n\nA connection's truth is its queue pair's state. The endpoint's state is "
      "computed from it and from who holds the\nendpoint (a service point); nothing stores it a second time.\n\n");
  print_queue_pair();
  print_endpoint();
}
