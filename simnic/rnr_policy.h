// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace softdat::simnic {

// What becomes of a send that finds no receive posted ("receiver not ready").
enum class RnrPolicy {
  kWait,       // it waits, as InfiniBand with infinite retry has it; only between our own peers
  kTerminate,  // the connection is terminated, as iWARP has it
};

}  // namespace softdat::simnic
