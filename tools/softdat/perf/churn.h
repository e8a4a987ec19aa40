// SPDX-License-Identifier: BSD-2-Clause
// Connections that are set up and torn down again, several at a time; an endpoint is created and freed for each.
#pragma once

#include <dat2/udat.h>

#include <cstdint>

#include "tools/softdat/perf/adapter.h"
#include "tools/softdat/perf/event_queue.h"

namespace softdat::tools::perf {

// One side's part: `queue` takes its connection events, and its requests if it is the server.
class Churn {
 public:
  Churn(const Adapter& adapter, EventQueue& queue, DAT_COUNT depth, Waiting waiting, LivenessCheck check);

  // Returns when `count` connections have come and gone; `window` of them at a time.
  void connect(DAT_IA_ADDRESS_PTR address, DAT_CONN_QUAL qual, std::uint64_t count, std::uint32_t window);
  void accept(std::uint64_t count);

 private:
  DAT_EP_HANDLE create();
  void begin(DAT_IA_ADDRESS_PTR address, DAT_CONN_QUAL qual);

  const Adapter& adapter_;
  EventQueue& queue_;
  const DAT_COUNT depth_;
  const Waiting waiting_;
  const LivenessCheck check_;
  EventQueue requests_;
  EventQueue receives_;
};

}  // namespace softdat::tools::perf
