// SPDX-License-Identifier: BSD-2-Clause
// The report of `softdat run --model`: text and JSON.
#pragma once

#include <string>
#include <vector>

#include "simnic/model/network.h"
#include "tools/softdat/model/program.h"
#include "tools/softdat/model/simulation.h"

namespace softdat::tools::model {

struct Forecast {
  simnic::model::Network network;
  Prediction low, typical, high;
};

// `compute`: by which the program's own times are multiplied.
Forecast forecast(const Program& program, const simnic::model::Network& network, double compute);

// Operations of the same kind and size. Each figure for kLow, kTypical and kHigh.
struct Group {
  Operation::Kind kind = Operation::Kind::kSend;
  std::uint32_t bytes = 0;
  std::uint64_t count = 0;
  double arrives[3] = {};    // mean time from the post, in us
  double completes[3] = {};  // the same; 0: no completion
  double rate[3] = {};       // MB in a second, from the first post to the last arrival
};
std::vector<Group> groups_of(const Program& program, const Forecast& forecast);

// Lines for the summary.
std::vector<std::string> as_lines(const Program& program, const Forecast& forecast);
std::string as_json(const Program& program, const std::vector<Forecast>& forecasts);

}  // namespace softdat::tools::model
