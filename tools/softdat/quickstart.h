// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

namespace softdat::tools {

struct QuickstartOutput {
  bool plain = false;  // lines of "transport operation bytes microseconds MB/s" for other programs, and no table
  std::string json;    // a file, "-" for standard output instead of the table, or empty
};

// Starts two processes per transport, lets them do RDMA, prints the table and the next step. Returns the exit status.
int run_quickstart(const QuickstartOutput& output);

}  // namespace softdat::tools
