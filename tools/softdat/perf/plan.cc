// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/perf/plan.h"

#include <array>
#include <span>

namespace softdat::tools::perf {
namespace {

template <typename Value>
struct Word {
  Value value;
  std::string_view text;
};

constexpr std::array<Word<Measure>, 11> kMeasures{{{Measure::kLatency, "latency"},
                                                   {Measure::kCompletion, "completion"},
                                                   {Measure::kBandwidth, "bandwidth"},
                                                   {Measure::kRate, "rate"},
                                                   {Measure::kBidirectional, "bidirectional"},
                                                   {Measure::kRegister, "register"},
                                                   {Measure::kConnect, "connect"},
                                                   {Measure::kMemory, "memory"},
                                                   {Measure::kIdle, "idle"},
                                                   {Measure::kOpen, "open"},
                                                   {Measure::kPoll, "poll"}}};
constexpr std::array<Word<Operation>, 6> kOperations{{{Operation::kSend, "send"},
                                                      {Operation::kWrite, "write"},
                                                      {Operation::kRead, "read"},
                                                      {Operation::kWriteImmediate, "write-immediate"},
                                                      {Operation::kFetchAdd, "fetch-add"},
                                                      {Operation::kCompareSwap, "compare-swap"}}};
constexpr std::array<Word<Waiting>, 2> kWaitings{{{Waiting::kPoll, "poll"}, {Waiting::kBlock, "block"}}};
constexpr std::array<Word<Target>, 3> kTargets{
    {{Target::kPoll, "poll"}, {Target::kWait, "wait"}, {Target::kSleep, "sleep"}}};

template <typename Value>
std::string_view text_of(std::span<const Word<Value>> words, Value value) {
  for (const Word<Value>& word : words) {
    if (word.value == value) return word.text;
  }
  return "?";
}

template <typename Value>
std::optional<Value> value_of(std::span<const Word<Value>> words, std::string_view text) {
  for (const Word<Value>& word : words) {
    if (word.text == text) return word.value;
  }
  return std::nullopt;
}

template <typename Value>
std::string names_of(std::span<const Word<Value>> words) {
  std::string names;
  for (const Word<Value>& word : words) names.append(names.empty() ? "" : ",").append(word.text);
  return names;
}

bool is_within(std::uint64_t least, std::uint64_t value, std::uint64_t most) {
  return least <= value && value <= most;
}

}  // namespace

std::string_view to_text(Measure value) {
  return text_of<Measure>(kMeasures, value);
}
std::string_view to_text(Operation value) {
  return text_of<Operation>(kOperations, value);
}
std::string_view to_text(Waiting value) {
  return text_of<Waiting>(kWaitings, value);
}
std::string_view to_text(Target value) {
  return text_of<Target>(kTargets, value);
}
std::optional<Measure> measure_of(std::string_view text) {
  return value_of<Measure>(kMeasures, text);
}
std::optional<Operation> operation_of(std::string_view text) {
  return value_of<Operation>(kOperations, text);
}
std::optional<Waiting> waiting_of(std::string_view text) {
  return value_of<Waiting>(kWaitings, text);
}
std::optional<Target> target_of(std::string_view text) {
  return value_of<Target>(kTargets, text);
}
std::string measure_names() {
  return names_of<Measure>(kMeasures);
}
std::string operation_names() {
  return names_of<Operation>(kOperations);
}

bool is_possible(const Setup& setup) {
  return is_within(1, setup.endpoints, kMostEndpoints) && is_within(1, setup.active, setup.endpoints) &&
         is_within(1, setup.depth, kMostDepth) && is_within(1, setup.window, setup.depth) &&
         is_within(1, setup.max_size, kLargestMessage) && setup.pause_us <= kMostPause &&
         setup.polls_first <= kMostFirstPolls && setup.event_queues <= kMostEventQueues &&
         is_within(1, setup.threads, kMostThreads) &&
         std::uint64_t{setup.threads} * setup.endpoints <= kMostEndpoints &&
         std::uint64_t{setup.active} * setup.depth <= kMostCompletions;
}

bool fits(const Case& what, const Setup& setup) {
  return is_within(1, what.size, setup.max_size) && is_within(1, what.window, setup.window) && what.signal_every != 0;
}

}  // namespace softdat::tools::perf
