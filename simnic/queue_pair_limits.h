// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <bit>

#include "hca/device.h"
#include "simnic/shared_receive_queue.h"

namespace softdat::simnic {

// What was asked for, as it is given: queues have room for at least one. Of a shared receive queue
// one receive is taken at a time.
inline hca::QueuePairLimits grant(const hca::QueuePairConfig& config) {
  const auto* const shared = static_cast<const SharedReceiveQueue*>(config.srq);
  hca::QueuePairLimits limits = config.limits;
  limits.send_wr = std::bit_ceil(std::max(limits.send_wr, 1u));
  limits.recv_wr = shared == nullptr ? std::bit_ceil(std::max(limits.recv_wr, 1u)) : 1;
  if (shared != nullptr) limits.recv_sge = shared->max_segments();
  return limits;
}

}  // namespace softdat::simnic
