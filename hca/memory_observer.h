// SPDX-License-Identifier: BSD-2-Clause
// Hears of stores into the consumer's memory before a simulated adapter makes them. For the sanitizer; there is none
// otherwise, and then it costs nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace softdat::hca {

enum class StoreOrigin : std::uint8_t {
  kPeerWrite,   // an RDMA write of the peer
  kCompletion,  // the data of a receive or of an RDMA read
};

class MemoryObserver {
 public:
  // Called with the adapter's baton, before the first byte. May not call the adapter, and does not throw.
  virtual void before_store(StoreOrigin origin, std::span<std::byte> memory) noexcept = 0;

 protected:
  ~MemoryObserver() = default;
};

// Adapters that are opened from now on tell this observer, which must live until the process ends. RDMA then goes by
// messages, so that each store is seen.
inline std::atomic<MemoryObserver*> memory_observer{nullptr};

}  // namespace softdat::hca
