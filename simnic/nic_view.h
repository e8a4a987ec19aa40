// SPDX-License-Identifier: BSD-2-Clause
// NicView: what a queue pair and its parts use of their NIC, which outlives them.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "hca/types.h"
#include "simnic/rnr_policy.h"

namespace softdat::simnic {

class Engine;
class MemoryTable;
namespace direct {
class DirectContext;
}

struct NicView {
  Engine& engine;
  MemoryTable& memory;
  direct::DirectContext* direct_context;  // null: no direct access
  std::uint32_t stream;                   // the queue pair's own number
  hca::Address address;                   // the port is this queue pair's
  RnrPolicy rnr;
  base::Duration connect_grace;  // for how long a connect that finds no listener tries again
};

}  // namespace softdat::simnic
