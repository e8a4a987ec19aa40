// SPDX-License-Identifier: BSD-2-Clause
// What a queue pair has been given to do, and has received, since it was made. A queue pair that
// counts is a CountingQueuePair too.
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
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;
};
using TransferCounts = std::array<TransferCount, kTransfers>;

class CountingQueuePair {
 public:
  // Any thread. Posts that were refused and receives that failed are not counted.
  virtual TransferCounts transfer_counts() const = 0;

 protected:
  ~CountingQueuePair() = default;
};

}  // namespace softdat::hca
