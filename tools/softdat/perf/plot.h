// SPDX-License-Identifier: BSD-2-Clause
// Results as a picture: an SVG file that any browser shows, a panel for each measure, a line for each operation.
#pragma once

#include <string>
#include <vector>

#include "tools/softdat/perf/result.h"

namespace softdat::tools::perf {

// The text of the file. Measures without sizes are left out; results that are unavailable too.
std::string plot_svg(const std::string& title, const std::vector<Result>& results);

}  // namespace softdat::tools::perf
