// SPDX-License-Identifier: BSD-2-Clause
// Counts of what was posted to a queue pair and what it received, since its creation. A queue pair that counts also
// derives from CountingQueuePair.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

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
};
inline constexpr std::size_t kTransfers = 12;

struct TransferCount {
  std::uint64_t number = 0;  // of operations
  std::uint64_t bytes = 0;
};
using TransferCounts = std::array<TransferCount, kTransfers>;

class CountingQueuePair {
 public:
  // Any thread. Refused posts and failed receives are not counted.
  virtual TransferCounts transfer_counts() const = 0;

 protected:
  ~CountingQueuePair() = default;
};

}  // namespace softdat::hca
