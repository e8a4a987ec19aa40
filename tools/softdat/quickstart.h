// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace softdat::tools {

// Starts two processes per transport, lets them do RDMA, prints the table and the next step; or, plain, only lines of
// "transport operation bytes microseconds MB/s" for other programs. Returns the exit status.
int run_quickstart(bool plain);

}  // namespace softdat::tools
