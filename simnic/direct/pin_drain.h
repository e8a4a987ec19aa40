// SPDX-License-Identifier: BSD-2-Clause
// PinDrain: the end of a revocation. Waits until no pin names memory that has been withdrawn, and takes the pages away
// from peers that do not let go in time (docs/decisions/0015-revocation-needs-nobodys-help.md).
//
// Threads: any. REQUIRES: not the baton. Waits for peers for a millisecond at most, all together, and for a thread of
// this process for a second. Errors: none. Without memory to take pages away it says so in the log.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "memory/arena.h"
#include "simnic/direct/key_directory.h"
#include "simnic/direct/layout.h"
#include "simnic/direct/peer.h"
#include "simnic/direct/peer_directory.h"

namespace softdat::simnic::direct {

// A key that peers no longer find, and the pages of the arena that they may have pinned through it.
struct Withdrawn {
  std::uint32_t key;
  FileRange pages;
};

class PinDrain {
 public:
  // Both are ours, and outlive this.
  PinDrain(KeyDirectory& key_directory, memory::Arena& arena) : key_directory_(key_directory), arena_(arena) {}

  // When it returns, none of the peers stores into that memory.
  void drain_key(const Withdrawn& withdrawn, PeerDirectory& peers);
  // REQUIRES: the QP entry is closed. When it returns true, the peer no longer stores through it. False: no memory.
  bool drain_qp_entry(std::uint32_t qp_entry, const std::shared_ptr<Peer>& peer);
  // When it returns, no thread of this process is within a direct access that it had begun before. A thread that stood
  // still for a second is given up, and not waited for again.
  void drain_own();

 private:
  template <typename PagesAt>
  bool collect(const std::shared_ptr<Peer>& peer, const PagesAt& pages_at, std::vector<memory::Retirement>& standing);
  bool await_all(std::vector<memory::Retirement>& standing);
  bool cut_off(const std::vector<memory::Retirement>& standing);

  // Fixed after construction.
  KeyDirectory& key_directory_;
  memory::Arena& arena_;
  // Pins of our own that a waiter gave up on; 0: none. All writers store the same value.
  std::array<std::atomic<std::uint64_t>, kPinSlots> given_up_{};
};

}  // namespace softdat::simnic::direct
