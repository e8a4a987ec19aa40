// SPDX-License-Identifier: BSD-2-Clause
// Runs the steps of a program on a network, in virtual time. The same program and costs give the same prediction.
#pragma once

#include <cstdint>
#include <vector>

#include "simnic/model/network.h"
#include "tools/softdat/model/program.h"

namespace softdat::tools::model {

// One number of each parameter of a network; times in ns.
struct Costs {
  double send = 0, receive = 0, latency = 0, gap = 0;
  double per_byte = 0;  // of payload
  double fetch = 0, inline_bytes = 0;
  double first_per_byte = 0, packet_bytes = 0;
  double compute = 1;  // by which the program's own times are multiplied
};

enum class Bound : std::uint8_t { kLow, kTypical, kHigh };
// kLow: the shortest times, that is, the highest rate.
Costs costs_of(const simnic::model::Network& network, Bound bound, double compute);

// Virtual times of an operation; negative: it did not come to that.
struct Times {
  double posted = -1;     // the call begins
  double arrived = -1;    // the payload is in its place
  double completed = -1;  // the completion is there
};

struct HostTime {
  double total = 0;      // from the first step of all to the last of the host's
  double computing = 0;  // summed over its threads
  double calls = 0;      // send and receive of the costs
  double waiting = 0;
};

struct Prediction {
  double total = 0;
  std::vector<HostTime> hosts;
  std::vector<Times> operations;
  std::uint64_t untold = 0;  // waits for operations whose messages the trace does not tell; they took no time
};

Prediction simulate(const Program& program, const Costs& costs);

}  // namespace softdat::tools::model
