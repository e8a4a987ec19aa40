// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "hca/device.h"
#include "simnic/shared_receive_queue.h"

namespace softdat::simnic {

// The most reads and atomics that a queue pair has outstanding, and that it answers at a time.
inline constexpr std::uint32_t kMostReads = 128;

// The limits that a queue pair gets for those asked for: queues have room for at least one. A queue pair takes one
// receive of a shared receive queue at a time.
inline hca::QueuePairLimits grant(const hca::QueuePairConfig& config) {
  const auto* const shared = static_cast<const SharedReceiveQueue*>(config.srq);
  hca::QueuePairLimits limits = config.limits;
  limits.send_wr = std::bit_ceil(std::max(limits.send_wr, 1u));
  limits.recv_wr = shared == nullptr ? std::bit_ceil(std::max(limits.recv_wr, 1u)) : 1;
  if (shared != nullptr) limits.recv_sge = shared->max_segments();
  return limits;
}

}  // namespace softdat::simnic
