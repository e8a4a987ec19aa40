// SPDX-License-Identifier: BSD-2-Clause
// Snapshots in the text format of Prometheus, version 0.0.4. docs/OBSERVING.md is the reference of the names.
#pragma once

#include <string>
#include <vector>

#include "tools/softdat/observe/scan.h"

namespace softdat::tools::observe {

inline constexpr const char* kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

// `with_endpoints`: also the series of each endpoint, EVD and SRQ, which are many where connections are.
std::string to_metrics(const std::vector<Process>& processes, bool with_endpoints);

}  // namespace softdat::tools::observe
