// SPDX-License-Identifier: BSD-2-Clause
// The loop network of this process: what its adapters share whose transport is "loop". Nobody outside is reached by it.
#pragma once

#include "transport/loop/loop_network.h"

namespace softdat::transport::loop {

// Any thread. It lives as long as the process; a forked child has another, where nobody is yet.
LoopNetwork& process_network();

}  // namespace softdat::transport::loop
