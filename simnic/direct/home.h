// SPDX-License-Identifier: BSD-2-Clause
// Home: all that one NIC shows to peers of the same user on the same host, and the peers it knows.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "memory/arena.h"
#include "memory/fork_handlers.h"
#include "simnic/direct/board.h"
#include "simnic/direct/peer.h"
#include "simnic/lock_places.h"
#include "transport/peer_resources.h"

namespace softdat::simnic::direct {

// A key that peers no longer find, and the pages of the arena that they may have pinned through it.
struct Withdrawn {
  std::uint32_t key;
  FileRange pages;
};

// Any thread. Outlives the carrier and everything of the NIC.
class Home final : public transport::ResourceExchange {
 public:
  // Null, with the reason said at trace level, when this system has not what it takes.
  static std::shared_ptr<Home> create(memory::MoveWhen when = memory::MoveWhen::kAlways);

  ~Home();
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;

  transport::ResourceFiles resource_files() const override { return {{board_.file(), arena_.file()}}; }
  std::shared_ptr<transport::PeerResources> attach_peer(std::array<base::UniqueFd, transport::kResourceFiles> files,
                                                        base::UniqueFd process) override;
  bool detach_peer(const std::shared_ptr<transport::PeerResources>& peer, bool has_hung_up) override;

  int board_file() const { return board_.file(); }
  int arena_file() const { return arena_.file(); }
  Board& board() { return board_; }
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

  // meet() adds a peer. Null: the files are not those of a peer, or there is no memory or no place for it. part() must
  // be called when no link and no queue pair uses the peer any more. `has_hung_up`: the kernel has closed the peer's
  // end. False: a thread of the peer may still be at our memory. Then the peer's files stay until its process has ended
  // and part() is called again, or until another peer is met or parted with.
  std::shared_ptr<Peer> meet(base::UniqueFd board, base::UniqueFd arena, base::UniqueFd process);
  bool part(const std::shared_ptr<Peer>& peer, bool has_hung_up = false);

  // Memory that begins at `address` here, whatever the grant counts from. False when peers cannot
  // reach it directly.
  bool publish(std::uint32_t key, const Grant& grant, std::uint64_t address);
  // After it, no peer can begin to access the memory of that key. Returns what peers may have pinned; empty if the key
  // was not published.
  std::optional<Withdrawn> withdraw(std::uint32_t key);
  // When it returns, no peer stores into that memory, and no thread of this process is within a direct access. Waits
  // for peers for a millisecond at most (kPatience), then takes the pages away from them. REQUIRES: not the baton.
  void await(const std::optional<Withdrawn>& withdrawn);
  // REQUIRES: the gate is closed; not the baton. When it returns, the peer no longer stores through the gate. Waits as
  // await() does.
  void await_gate(std::uint32_t gate, const std::shared_ptr<Peer>& peer);

 private:
  Home(memory::Arena& arena, memory::MoveWhen when)
      : arena_(arena), when_(when), generation_(memory::fork_generation()), reaching_(generation_) {}
  struct Known {
    std::uint64_t number;  // ascending
    std::shared_ptr<Peer> peer;
    bool is_leaving = false;  // no link any more, but a thread of theirs may still be at it
  };
  bool share(std::uint32_t key, const Grant& grant, std::uint64_t address, memory::Refusal& refusal);
  std::shared_ptr<Peer> next_peer(std::uint64_t& number);
  void forget_gone_locked();
  template <typename PagesAt>
  void collect(const std::shared_ptr<Peer>& peer, const PagesAt& pages_at, std::vector<memory::Retirement>& standing);
  bool await_all(std::vector<memory::Retirement>& standing);
  void cut_off(const std::vector<memory::Retirement>& standing);
  void await_own_pins();

  // Fixed after construction.
  Board board_;
  memory::Arena& arena_;  // the process's
  const memory::MoveWhen when_;
  const unsigned generation_;
  std::atomic<unsigned> reaching_;  // generation_, or one that never comes while suspended
  std::atomic<std::uint64_t> last_connection_{0};
  // Pins of our own that a waiter gave up on; 0: none. All writers store the same value.
  std::array<std::atomic<std::uint64_t>, kPinSlots> given_up_{};
  base::Mutex<locks::kHome> mutex_;
  // Guarded by mutex_.
  std::vector<Known> peers_;
  std::uint64_t last_peer_ = 0;
};

}  // namespace softdat::simnic::direct
