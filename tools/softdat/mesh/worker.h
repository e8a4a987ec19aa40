// SPDX-License-Identifier: BSD-2-Clause
// A process of `softdat mesh`: reads its plan from standard input, then goes from step to step with the others.
#pragma once

#include <string>

#include "tools/softdat/mesh/node.h"

namespace softdat::tools::mesh {

inline constexpr const char* kGo = "go";

// What a process says when it has finished: everything that is counted of it.
struct NodeReport {
  double us_per_registration = 0;
  double bytes_per_endpoint = 0;
  double files_per_endpoint = 0;
  double idle_cpu_seconds = 0;
};

std::string encode(const NodePlan& plan);
std::string encode(const NodeReport& report);
NodeReport decode_report(const std::string& line);

// Returns the exit status; throws Failure.
int run_worker();

}  // namespace softdat::tools::mesh
