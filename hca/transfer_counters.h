// SPDX-License-Identifier: BSD-2-Clause
// Counts of transfers. Each is written by one thread at a time, who holds what guards its kind of
// transfer (a posting lock, or the baton), and so without a locked instruction; read by anybody.
#pragma once

#include <array>
#include <atomic>

#include "hca/counters.h"
#include "hca/types.h"

namespace softdat::hca {

class TransferCounters {
 public:
  void add(Transfer transfer, std::uint64_t bytes) {
    Count& count = counts_[static_cast<std::size_t>(transfer)];
    bump(count.number, 1);
    bump(count.bytes, bytes);
  }

  TransferCounts read() const {
    TransferCounts result;
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i] = {counts_[i].number.load(std::memory_order_relaxed), counts_[i].bytes.load(std::memory_order_relaxed)};
    }
    return result;
  }

 private:
  using Number = std::atomic<std::uint64_t>;
  struct Count {
    Number number{0};
    Number bytes{0};
  };
  static void bump(Number& number, std::uint64_t by) {
    number.store(number.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }

  std::array<Count, kTransfers> counts_;
};

constexpr Transfer transfer_of(SendOpcode opcode) {
  switch (opcode) {
    case SendOpcode::kWrite:
      return Transfer::kPostWrite;
    case SendOpcode::kRead:
    case SendOpcode::kReadToWindow:
      return Transfer::kPostRead;
    case SendOpcode::kWriteWithImmediate:
      return Transfer::kPostWriteImmediate;
    case SendOpcode::kFetchAdd:
      return Transfer::kPostFetchAdd;
    case SendOpcode::kCompareSwap:
      return Transfer::kPostCompareSwap;
    default:  // those that others add are sends of a kind
      return Transfer::kPostSend;
  }
}

constexpr Transfer transfer_of(CompletionOpcode receive) {
  switch (receive) {
    case CompletionOpcode::kRecvWriteImmediate:
      return Transfer::kRecvWriteImmediate;
    case CompletionOpcode::kRecvImmediate:
      return Transfer::kRecvImmediate;
    case CompletionOpcode::kRecvDatagram:
      return Transfer::kRecvDatagram;
    default:
      return Transfer::kRecv;
  }
}

}  // namespace softdat::hca
