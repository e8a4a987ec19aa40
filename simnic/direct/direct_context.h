// SPDX-License-Identifier: BSD-2-Clause
// DirectContext: all that one NIC shows to peers of the same user on the same host, and the peers it knows: its key
// directory, the memory of the process's arena that it lends, its PeerDirectory, and the PinDrain that ends a
// revocation.
//
// Owns all of these but the arena. Threads: any. Outlives the carrier and everything of the NIC. Errors: memory that
// cannot be reached directly is reached by messages.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/unique_fd.h"
#include "memory/arena.h"
#include "memory/fork_handlers.h"
#include "simnic/direct/key_directory.h"
#include "simnic/direct/peer.h"
#include "simnic/direct/peer_directory.h"
#include "simnic/direct/pin_drain.h"
#include "transport/peer_resources.h"

namespace softdat::simnic::direct {

class DirectContext final : public transport::ResourceExchange {
 public:
  // Null, with the reason said at trace level, when this system has not what it takes.
  static std::shared_ptr<DirectContext> create(memory::MoveWhen when = memory::MoveWhen::kAlways);

  ~DirectContext();
  DirectContext(const DirectContext&) = delete;
  DirectContext& operator=(const DirectContext&) = delete;

  transport::ResourceFiles resource_files() const override { return {{key_directory_.file(), arena_.file()}}; }
  std::shared_ptr<transport::PeerResources> attach_peer(std::array<base::UniqueFd, transport::kResourceFiles> files,
                                                        base::UniqueFd process) override;
  bool detach_peer(const std::shared_ptr<transport::PeerResources>& peer, bool has_hung_up) override;

  int key_directory_file() const { return key_directory_.file(); }
  int arena_file() const { return arena_.file(); }
  KeyDirectory& key_directory() { return key_directory_; }
  PeerDirectory& peers() { return peers_; }
  // Never 0, never the same twice.
  std::uint64_t next_connection() { return last_connection_.fetch_add(1, std::memory_order_relaxed) + 1; }
  // A child of the process that made it has none of this.
  bool is_usable() const { return memory::fork_generation() == generation_; }
  // Whether this side may reach peers directly.
  bool may_reach() const { return memory::fork_generation() == reaching_.load(std::memory_order_relaxed); }
  // Until resume(), neither side begins to reach the other directly: messages do. suspend() throws std::bad_alloc
  // without any effect.
  void suspend();
  void resume();

  // Memory that begins at `address` here, whatever the grant counts from. False when peers cannot
  // reach it directly.
  bool publish(std::uint32_t key, const Grant& grant, std::uint64_t address);
  // After it, no peer can begin to access the memory of that key. Returns what peers may have pinned; empty if the key
  // was not published.
  std::optional<Withdrawn> withdraw(std::uint32_t key);
  // When it returns, no peer stores into that memory, and no thread of this process is within a direct access. Waits
  // for peers for a millisecond at most, then takes the pages away from them (PinDrain). REQUIRES: not the baton.
  void await(const std::optional<Withdrawn>& withdrawn);
  // REQUIRES: the QP entry is closed; not the baton. When it returns true, the peer no longer stores through the entry.
  // False: there was no memory to see to that. Waits as await() does.
  bool await_qp_entry(std::uint32_t qp_entry, const std::shared_ptr<Peer>& peer);

 private:
  DirectContext(memory::Arena& arena, memory::MoveWhen when)
      : arena_(arena), when_(when), generation_(memory::fork_generation()), reaching_(generation_) {}
  bool share(std::uint32_t key, const Grant& grant, std::uint64_t address, memory::Refusal& refusal);

  // Fixed after construction.
  KeyDirectory key_directory_;
  memory::Arena& arena_;  // the process's
  const memory::MoveWhen when_;
  const unsigned generation_;
  std::atomic<unsigned> reaching_;  // generation_, or one that never comes while suspended
  std::atomic<std::uint64_t> last_connection_{0};
  PeerDirectory peers_{key_directory_, arena_};
  PinDrain pins_{key_directory_, arena_};
};

}  // namespace softdat::simnic::direct
