// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

namespace softdat::tools {

// Starts two processes per transport, lets them do RDMA, prints the table and the next step; or, plain, only lines of
// "transport operation bytes microseconds MB/s" for other programs. Returns the exit status.
int run_quickstart(bool plain);

// The two processes' own parts.
int run_quickstart_listener(std::uint64_t qual);
int run_quickstart_connector(std::uint64_t qual);

}  // namespace softdat::tools
