// SPDX-License-Identifier: BSD-2-Clause
// The loop network of this process, shared by its adapters with the transport "loop". It reaches no other process.
#pragma once

#include "transport/loop/loop_network.h"

namespace softdat::transport::loop {

// Any thread. Lives as long as the process. A child made by fork() has a new, empty one.
LoopNetwork& process_network();

}  // namespace softdat::transport::loop
