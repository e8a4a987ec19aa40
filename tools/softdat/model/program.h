// SPDX-License-Identifier: BSD-2-Clause
// What a run did, without its times: the steps of each thread, and the messages between hosts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/softdat/timeline/trace.h"

namespace softdat::tools::model {

struct Operation {
  enum class Kind : std::uint8_t { kSend, kWrite, kRead, kAtomic };
  Kind kind = Kind::kSend;
  std::uint32_t bytes = 0;
  std::uint32_t from = 0, to = 0;        // hosts
  std::uint32_t endpoint = 0, peer = 0;  // lanes of the trace; order holds for each
  bool is_sent = false;                  // it has left, and arrived
};

struct Step {
  enum class Kind : std::uint8_t {
    kPost,         // the operation
    kTakeRequest,  // the event of its completion
    kTakeReceive,  // the event of the receive that it took
  };
  Kind kind = Kind::kPost;
  std::uint64_t computed = 0;  // ns of the processor before it
  std::size_t operation = 0;
};

struct Thread {
  std::uint32_t host = 0;
  std::vector<Step> steps;
};

// Each process is a host.
struct Program {
  std::vector<Thread> threads;
  std::vector<Operation> operations;
  std::vector<std::string> hosts;    // names of the processes
  std::uint64_t unknown_events = 0;  // that were taken, of operations that the trace does not tell
};

Program read_program(const timeline::Trace& trace);

}  // namespace softdat::tools::model
