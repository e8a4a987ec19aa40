// SPDX-License-Identifier: BSD-2-Clause
// Counts of transfers. Each is written by one thread at a time, who holds what guards its kind of
// transfer (a posting lock, or the baton), and so without a locked instruction; read by anybody.
#pragma once

#include <array>
#include <atomic>

#include "hca/counters.h"
#include "hca/types.h"

namespace softdat::simnic {

class TransferCounters {
 public:
  void add(hca::Transfer transfer, std::uint64_t bytes) {
    Count& count = counts_[static_cast<std::size_t>(transfer)];
    bump(count.number, 1);
    bump(count.bytes, bytes);
  }

  hca::TransferCounts read() const {
    hca::TransferCounts result;
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

  std::array<Count, hca::kTransfers> counts_;
};

constexpr hca::Transfer transfer_of(hca::SendOpcode opcode) {
  switch (opcode) {
    case hca::SendOpcode::kWrite:
      return hca::Transfer::kPostWrite;
    case hca::SendOpcode::kRead:
    case hca::SendOpcode::kReadToWindow:
      return hca::Transfer::kPostRead;
    case hca::SendOpcode::kWriteWithImmediate:
      return hca::Transfer::kPostWriteImmediate;
    case hca::SendOpcode::kFetchAdd:
      return hca::Transfer::kPostFetchAdd;
    case hca::SendOpcode::kCompareSwap:
      return hca::Transfer::kPostCompareSwap;
    default:  // those that others add are sends of a kind
      return hca::Transfer::kPostSend;
  }
}

constexpr hca::Transfer transfer_of(hca::CompletionOpcode receive) {
  switch (receive) {
    case hca::CompletionOpcode::kRecvWriteImmediate:
      return hca::Transfer::kRecvWriteImmediate;
    case hca::CompletionOpcode::kRecvImmediate:
      return hca::Transfer::kRecvImmediate;
    case hca::CompletionOpcode::kRecvDatagram:
      return hca::Transfer::kRecvDatagram;
    default:
      return hca::Transfer::kRecv;
  }
}

}  // namespace softdat::simnic
