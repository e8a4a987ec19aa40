// SPDX-License-Identifier: BSD-2-Clause
// Counts of transfers and of what is rare. Each is written by one thread at a time, which holds what guards its kind
// (a posting lock for posts, the baton for the rest), and so without a locked instruction. Any thread reads them.
#pragma once

#include <array>
#include <atomic>

#include "hca/counters.h"
#include "hca/types.h"

namespace softdat::hca {

class TransferCounters {
 public:
  [[gnu::always_inline]] void add(Transfer transfer, std::uint64_t bytes) {
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

  // With the baton. Apart because they are rare.
  [[gnu::cold, gnu::noinline]] void fail_request(CompletionStatus status) {
    bump(failed_requests_[static_cast<std::size_t>(status)], 1);
  }
  [[gnu::cold, gnu::noinline]] void fail_receive(CompletionStatus status) {
    bump(failed_receives_[static_cast<std::size_t>(status)], 1);
  }
  [[gnu::cold, gnu::noinline]] void add_rnr_wait() { bump(rnr_waits_, 1); }
  [[gnu::cold, gnu::noinline]] void add_resend() { bump(resends_, 1); }
  [[gnu::cold, gnu::noinline]] void add_connect_retry() { bump(connect_retries_, 1); }

  // Without capacities and high-water marks, which are those of the queues.
  QueuePairCounts read_rare() const {
    QueuePairCounts result;
    for (std::size_t i = 0; i < kCompletionStatuses; ++i) {
      result.failed_requests[i] = failed_requests_[i].load(std::memory_order_relaxed);
      result.failed_receives[i] = failed_receives_[i].load(std::memory_order_relaxed);
    }
    result.rnr_waits = rnr_waits_.load(std::memory_order_relaxed);
    result.resends = resends_.load(std::memory_order_relaxed);
    result.connect_retries = connect_retries_.load(std::memory_order_relaxed);
    return result;
  }

 private:
  using Number = std::atomic<std::uint64_t>;
  struct Count {
    Number number{0};
    Number bytes{0};
  };
  [[gnu::always_inline]] static void bump(Number& number, std::uint64_t by) {
    number.store(number.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }

  std::array<Count, kTransfers> counts_;
  std::array<Number, kCompletionStatuses> failed_requests_{};
  std::array<Number, kCompletionStatuses> failed_receives_{};
  Number rnr_waits_{0};
  Number resends_{0};
  Number connect_retries_{0};
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
