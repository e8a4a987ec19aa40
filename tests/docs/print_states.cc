// SPDX-License-Identifier: BSD-2-Clause
// Prints docs/STATES.md from the tables that the code runs on.
#include <array>
#include <cstdio>

#include "libdat/object/endpoint_state.h"
#include "simnic/queue_pair_state.h"
#include "transport/tcp/connection_state.h"
#include "verbs/queue_pair_state.h"

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
constexpr std::array kVerbsEventNames{"connect", "accept", "establish", "refuse", "end", "drain", "cut", "reset"};
static_assert(kQueuePairStateNames.size() == softdat::simnic::kQueuePairStates);
static_assert(kQueuePairStateNames.size() == softdat::verbs::kQueuePairStates);
static_assert(kVerbsEventNames.size() == softdat::verbs::kQueuePairEvents);
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

constexpr std::array kConnectionStateNames{"dialing", "awaiting reply", "awaiting request", "requested", "confirming",
                                           "holding", "open",           "draining",         "closed"};
constexpr std::array kConnectionStateMeanings{"TCP connects to one of the service's ports",
                                              "our MPA request is out",
                                              "accepted by TCP; the peer has yet to say what it wants",
                                              "the consumer has the peer's request and has not answered",
                                              "our yes is out; the peer's first FPDU confirms it",
                                              "agreed with a foreign peer that is not to hear from us for some moments",
                                              "messages flow",
                                              "closed; last bytes go out, then our FIN; whatever comes is dropped",
                                              "no socket any more"};
constexpr std::array kConnectionEventNames{"connected", "redial", "request", "hold", "confirm", "open", "drain", "end"};
static_assert(kConnectionStateNames.size() == softdat::transport::tcp::kStateCount);
static_assert(kConnectionStateMeanings.size() == softdat::transport::tcp::kStateCount);
static_assert(kConnectionEventNames.size() == softdat::transport::tcp::kEventCount);

// `next_state(state, event)` gives the number of the state that follows, if any.
template <std::size_t kStates, std::size_t kEvents, typename Next>
void print_transitions(const std::array<const char*, kStates>& names, const std::array<const char*, kEvents>& events,
                       Next next_state) {
  std::printf("| in, on |");
  for (const char* event : events) std::printf(" %s |", event);
  std::printf("\n|---|");
  for (std::size_t i = 0; i < kEvents; ++i) std::printf("---|");
  for (std::size_t state = 0; state < kStates; ++state) {
    std::printf("\n| **%s** |", names[state]);
    for (std::size_t event = 0; event < kEvents; ++event) {
      const auto next = next_state(state, event);
      std::printf(" %s |", next ? names[static_cast<std::size_t>(*next)] : "-");
    }
  }
  std::printf("\n");
}

template <std::size_t kStates>
void print_meanings(const std::array<const char*, kStates>& names, const std::array<const char*, kStates>& meanings) {
  std::printf("| state | what is true in it |\n|---|---|\n");
  for (std::size_t state = 0; state < kStates; ++state) std::printf("| %s | %s |\n", names[state], meanings[state]);
  std::printf("\n");
}

void print_queue_pair() {
  std::printf("## The queue pair (hca/connection.h)\n\n");
  print_meanings(kQueuePairStateNames, kQueuePairStateMeanings);
  std::printf("Of the simulated adapter (simnic/queue_pair_state.h):\n\n");
  print_transitions(kQueuePairStateNames, kQueuePairEventNames, [](auto state, auto event) {
    return softdat::simnic::next_state(static_cast<QueuePairState>(state), static_cast<QueuePairEvent>(event));
  });
  std::printf("\nOf RDMA devices (verbs/queue_pair_state.h):\n\n");
  print_transitions(kQueuePairStateNames, kVerbsEventNames, [](auto state, auto event) {
    return softdat::verbs::next_state(static_cast<QueuePairState>(state),
                                      static_cast<softdat::verbs::QueuePairEvent>(event));
  });
}

void print_connection() {
  using softdat::transport::tcp::Event;
  using softdat::transport::tcp::State;
  std::printf("\n## The TCP connection (transport/tcp/connection_state.h)\n\n");
  print_meanings(kConnectionStateNames, kConnectionStateMeanings);
  print_transitions(kConnectionStateNames, kConnectionEventNames, [](auto state, auto event) {
    return softdat::transport::tcp::step_of(static_cast<State>(state), static_cast<Event>(event));
  });
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
      "# States\n\nThe state machines of connections, for people who change the code. `print_states` (tests/docs) "
      "prints "
      "this page from the\ntables the code runs on, and a test compares. A dash is an event that is refused or cannot "
      "happen; it changes nothing.\n\nThe queue pair's state is the connection's. The endpoint's state is computed "
      "from "
      "it and from the service point that holds\nthe endpoint; no second copy is stored. A connection over shared "
      "memory has "
      "the states of `ChannelState`, one over the loop\nthose of `EndState`; neither has a table.\n\n");
  print_queue_pair();
  print_endpoint();
  print_connection();
}
