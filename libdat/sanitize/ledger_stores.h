// SPDX-License-Identifier: BSD-2-Clause
// LedgerStores: stores of the adapter into the program's memory, and accesses of peers.
//
// Owned by the Ledger. The adapter calls with its baton held, from any thread, so nothing here may wait for the baton;
// each call takes the ledger's lock within. A breach is reported. Nothing throws: without memory a call has no effect.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hca/memory_observer.h"
#include "libdat/sanitize/ledger_guards.h"
#include "libdat/sanitize/ledger_queues.h"
#include "libdat/sanitize/ledger_state.h"
#include "libdat/sanitize/operation.h"
#include "libdat/sanitize/range_index.h"

namespace softdat::sanitize {

class LedgerStores final : public hca::MemoryObserver {
 public:
  // All outlive this object.
  LedgerStores(LedgerState& state, LedgerGuards& guards, LedgerQueues& queues)
      : state_(state), guards_(guards), queues_(queues) {}

  // hca::MemoryObserver.
  void before_store(hca::StoreOrigin origin, std::span<std::byte> memory) noexcept override;
  void after_store(std::span<std::byte> memory) noexcept override;
  void after_peer_write(std::span<std::byte> memory) noexcept override;
  void on_peer_read(std::uint32_t rkey, bool is_atomic) noexcept override;

 private:
  static void note_arrival_locked(Operation& operation);
  void check_peer_write_locked(Operation& operation, const RangeIndex::Clash& clash);
  void note_peer_write_locked(std::uint64_t address);

  LedgerState& state_;
  LedgerGuards& guards_;
  LedgerQueues& queues_;
};

}  // namespace softdat::sanitize
