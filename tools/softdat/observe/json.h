// SPDX-License-Identifier: BSD-2-Clause
// Snapshots as JSON: one object with a list of processes. docs/OBSERVING.md is the reference.
#pragma once

#include <string>
#include <vector>

#include "tools/softdat/observe/scan.h"

namespace softdat::tools::observe {

std::string to_json(const std::vector<Process>& processes);

}  // namespace softdat::tools::observe
