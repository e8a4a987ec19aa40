// SPDX-License-Identifier: BSD-2-Clause
// Hears of what peers do to the consumer's memory before a simulated adapter does it. For the sanitizer; there is none
// otherwise, and then it costs nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace softdat::hca {

enum class StoreOrigin : std::uint8_t {
  kPeerWrite,   // an RDMA write of the peer
  kCompletion,  // the data of a receive, an RDMA read or an atomic operation
};

// Each function is called with the adapter's baton, may not call the adapter, and does not throw.
class MemoryObserver {
 public:
  // Before the first byte.
  virtual void before_store(StoreOrigin origin, std::span<std::byte> memory) noexcept = 0;
  // All of a receive or an RDMA read is stored, and its completion is not there yet. `memory` is a part of it.
  virtual void after_store(std::span<std::byte> memory) noexcept = 0;
  // All of a peer's RDMA write is stored. `memory` is the part that is known to be of one piece.
  virtual void after_peer_write(std::span<std::byte> memory) noexcept = 0;
  // A peer reads through the key, or, with `is_atomic`, reads and writes.
  virtual void on_peer_read(std::uint32_t rkey, bool is_atomic) noexcept = 0;

 protected:
  ~MemoryObserver() = default;
};

// Adapters that are opened from now on tell this observer, which must live until the process ends. RDMA then goes by
// messages, so that each store is seen.
inline std::atomic<MemoryObserver*> memory_observer{nullptr};

}  // namespace softdat::hca
