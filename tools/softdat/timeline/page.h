// SPDX-License-Identifier: BSD-2-Clause
// The page of `softdat view`: one HTML file that needs nothing else.
#pragma once

#include <string>

#include "tools/softdat/timeline/operations.h"

namespace softdat::tools::timeline {

// What a browser draws smoothly. Of more, the page has the slowest operations, the longest calls and the lanes with the
// most events, beside those of their processes, and says so.
struct PageLimits {
  std::size_t lanes = 5'000;
  std::size_t operations = 20'000;
  std::size_t calls = 20'000;
  std::size_t rows = 200;
};

std::string make_page(const Trace& trace, const Activity& activity, const std::string& title,
                      const PageLimits& limits = {});

}  // namespace softdat::tools::timeline
