// SPDX-License-Identifier: BSD-2-Clause
// Counts of what was posted to a queue pair and what it received, since its creation. A queue pair that counts also
// derives from CountingQueuePair.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "hca/types.h"

namespace softdat::hca {

enum class Transfer : std::uint8_t {
  kPostSend,
  kPostDatagram,
  kPostRecv,
  kPostWrite,
  kPostWriteImmediate,
  kPostRead,
  kPostCompareSwap,
  kPostFetchAdd,
  kRecv,
  kRecvDatagram,
  kRecvImmediate,
  kRecvWriteImmediate,
  kPostBind,
};
inline constexpr std::size_t kTransfers = 13;

struct TransferCount {
  std::uint64_t number = 0;  // of operations
  std::uint64_t bytes = 0;
};
using TransferCounts = std::array<TransferCount, kTransfers>;

inline constexpr std::size_t kCompletionStatuses = 10;
static_assert(static_cast<std::size_t>(CompletionStatus::kBindFailed) + 1 == kCompletionStatuses);
using StatusCounts = std::array<std::uint64_t, kCompletionStatuses>;

// What a queue pair counts beside its transfers. Numbers of one moment are not consistent with each other.
struct QueuePairCounts {
  StatusCounts failed_requests{};  // by status; kSuccess is always 0
  StatusCounts failed_receives{};
  std::uint64_t rnr_waits = 0;        // sends of the peer's that came and found no receive
  std::uint64_t resends = 0;          // how often the peer had us send again, for want of a receive
  std::uint64_t connect_retries = 0;  // after the first try of a connect
  std::uint32_t send_capacity = 0;
  std::uint32_t recv_capacity = 0;
  std::uint32_t send_high_water = 0;  // the most requests that were outstanding at once, direct ones aside
  std::uint32_t recv_high_water = 0;
};

// What several queue pairs have counted together. Of QueuePairCounts, capacities and high-water marks stay out.
struct CountSums {
  TransferCounts transfers{};
  QueuePairCounts counts{};

  void add(const TransferCounts& more, const QueuePairCounts& other) {
    for (std::size_t i = 0; i < kTransfers; ++i) {
      transfers[i].number += more[i].number;
      transfers[i].bytes += more[i].bytes;
    }
    for (std::size_t i = 0; i < kCompletionStatuses; ++i) {
      counts.failed_requests[i] += other.failed_requests[i];
      counts.failed_receives[i] += other.failed_receives[i];
    }
    counts.rnr_waits += other.rnr_waits;
    counts.resends += other.resends;
    counts.connect_retries += other.connect_retries;
  }
};

class CountingQueuePair {
 public:
  // Any thread. Refused posts and failed receives are not counted.
  virtual TransferCounts transfer_counts() const = 0;
  // Any thread. All zero where the device counts none of it.
  virtual QueuePairCounts counts() const { return {}; }

 protected:
  ~CountingQueuePair() = default;
};

}  // namespace softdat::hca
