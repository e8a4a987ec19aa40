// SPDX-License-Identifier: BSD-2-Clause
// What is to be measured and how: plain values that the parent makes of the command line and that both
// sides of a pair share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace softdat::tools::perf {

enum class Measure : std::uint8_t {
  kLatency,        // half a round trip; of reads and atomics as kCompletion
  kCompletion,     // one-sided: from the post to the completion
  kBandwidth,      // a window of operations in flight, one way
  kRate,           // as kBandwidth, tuned for small messages
  kBidirectional,  // as kBandwidth, both sides at once
  kRegister,       // writes whose memory is registered for each of them
  kConnect,        // connections set up and torn down
  kMemory,         // of each connected endpoint
  kIdle,           // processor time of two connected processes that do nothing
  kOpen,           // dat_ia_open and dat_ia_close
  kPoll,           // an empty dat_evd_dequeue
};

enum class Operation : std::uint8_t { kSend, kWrite, kRead, kWriteImmediate, kFetchAdd, kCompareSwap };

// How this side waits for completions.
enum class Waiting : std::uint8_t { kPoll, kBlock };

// What a side does while it is only the target of one-sided operations.
enum class Target : std::uint8_t { kPoll, kWait, kSleep };

std::string_view to_text(Measure value);
std::string_view to_text(Operation value);
std::string_view to_text(Waiting value);
std::string_view to_text(Target value);
// Nothing for a word that names none.
std::optional<Measure> measure_of(std::string_view text);
std::optional<Operation> operation_of(std::string_view text);
std::optional<Waiting> waiting_of(std::string_view text);
std::optional<Target> target_of(std::string_view text);
// All of them, in order, separated by commas.
std::string measure_names();
std::string operation_names();

// Whether each operation takes a receive of the peer.
constexpr bool consumes_receive(Operation operation) {
  return operation == Operation::kSend || operation == Operation::kWriteImmediate;
}
constexpr bool is_atomic(Operation operation) {
  return operation == Operation::kFetchAdd || operation == Operation::kCompareSwap;
}
// Whether the bytes come to the side that posted it.
constexpr bool fetches(Operation operation) {
  return operation == Operation::kRead || is_atomic(operation);
}
// Whether the latency of it is that of a ping-pong.
constexpr bool has_ping_pong(Operation operation) {
  return !fetches(operation);
}
// Whether a measure has operations and sizes at all.
constexpr bool has_traffic(Measure measure) {
  return measure <= Measure::kRegister;
}
// Whether each thread of a side may have a part of its own.
constexpr bool has_threads(Measure measure) {
  return measure == Measure::kBandwidth || measure == Measure::kRate || measure == Measure::kBidirectional;
}

// The most that a command line may ask for, and that a server does for its client.
inline constexpr std::uint32_t kMostEndpoints = 100'000;
inline constexpr std::uint32_t kMostDepth = 65'536;
inline constexpr std::uint32_t kMostPause = 1'000'000;
inline constexpr std::uint32_t kMostFirstPolls = 1'000'000;
inline constexpr std::uint32_t kMostEventQueues = 256;
inline constexpr std::uint32_t kMostThreads = 256;
inline constexpr std::uint64_t kLargestMessage = std::uint64_t{1} << 30;
// The most completions of all active endpoints together: their queue has a length that a DAT_COUNT can hold.
inline constexpr std::uint64_t kMostCompletions = 0x7FFF'FFFF;

// What holds for all cases of a pair.
struct Setup {
  std::uint32_t endpoints = 1;
  std::uint32_t active = 1;  // of them carry traffic, in turns
  std::uint32_t depth = 128;
  std::uint32_t window = 128;  // the largest of all cases
  std::uint64_t max_size = 8;  // the largest of all cases
  std::uint32_t pause_us = 0;  // before each side's turn of a ping-pong
  Waiting waiting = Waiting::kPoll;
  Target target = Target::kPoll;
  bool verify = false;
  bool memory_only = false;  // who watches memory never calls the library meanwhile
  // The side that watches memory polls so many times before it begins. For memory_only.
  std::uint32_t polls_first = 0;
  // The side that watches its memory polls so many queues, one after the other, between two looks. 0: it polls the
  // queue of its requests now and then.
  std::uint32_t event_queues = 0;
  std::uint32_t threads = 1;  // of each side, each with endpoints and queues of its own
  bool fresh_memory = false;  // kRegister: no memory is registered twice
};

// One figure to be taken.
struct Case {
  Measure measure = Measure::kLatency;
  Operation operation = Operation::kSend;
  std::uint64_t size = 8;
  std::uint32_t window = 1;
  std::uint32_t signal_every = 1;
  std::uint64_t iterations = 0;  // 0: as many as `duration_s` needs
  double duration_s = 0.2;
};

// Whether a command line can ask for it.
bool is_possible(const Setup& setup);
// Whether the memory and the queues that a possible setup makes are large enough for the case.
bool fits(const Case& what, const Setup& setup);

// What a worker process is told on its standard input.
struct Job {
  bool is_server = false;
  std::string ia;
  std::string host;  // of the server; empty: this one
  std::uint64_t qual = 0;
  int cpu = -1;  // to pin to; -1: not
  Setup setup;   // of a client; a server hears it from the client
  std::vector<Case> cases;
  std::string samples;  // where a client writes its latencies in order; empty: nowhere
};

}  // namespace softdat::tools::perf
