// SPDX-License-Identifier: BSD-2-Clause
// The full screen of `softdat top`, over ncurses: three views, one below the other (processes, endpoints of a process,
// an endpoint). softdat(1) lists the keys.
#pragma once

#include <string>

#include "tools/softdat/observe/scan.h"

namespace softdat::tools::observe {

struct ScreenOptions {
  double interval_s = 1;
  std::string filter;
  std::size_t sort_column = 0;  // of process_columns()
  bool is_reversed = false;
  pid_t pid = 0;  // show the endpoints of this one first; 0: the processes
};

// Shows the screen until the user leaves it. Failure when standard output is no terminal, or TERM names none.
void run_screen(Scanner& scanner, const ScreenOptions& options);

}  // namespace softdat::tools::observe
