// SPDX-License-Identifier: BSD-2-Clause
// Home: all that one NIC shows to peers of the same user on the same host, and the peers it knows.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "transport/direct/arena.h"
#include "transport/direct/board.h"
#include "transport/direct/fork_handlers.h"
#include "transport/direct/peer.h"

namespace softdat::transport::direct {

// Any thread. Outlives the carrier and everything of the NIC.
class Home {
 public:
  // Null, with the reason said at trace level, when this system has not what it takes.
  static std::shared_ptr<Home> create(MoveWhen when = MoveWhen::kAlways);

  int board_file() const { return board_.file(); }
  int arena_file() const { return arena_.file(); }
  Board& board() { return board_; }
  // Never 0, never the same twice.
  std::uint64_t next_connection() { return last_connection_.fetch_add(1, std::memory_order_relaxed) + 1; }
  // A child of the process that made it has none of this.
  bool is_usable() const { return fork_generation() == generation_; }

  // A peer came (null: it is none, or there is no memory for it) / nobody uses it through a link any more.
  std::shared_ptr<Peer> meet(base::UniqueFd board, base::UniqueFd arena, base::UniqueFd process);
  void part(const std::shared_ptr<Peer>& peer);

  // Memory that begins at `address` here, whatever the grant counts from. False when peers cannot
  // reach it directly.
  bool publish(std::uint32_t key, const Grant& grant, std::uint64_t address);
  // No peer comes into the memory of that key any more, published or not...
  void withdraw(std::uint32_t key);
  // ...and when this returns, which may take as long as a peer stands still, none is in it, and no
  // thread of ours in anybody's.
  void await_key(std::uint32_t key);
  // The gate is closed. False when peers were still using it at the deadline.
  bool await_gate(std::uint32_t gate, base::Time deadline);

 private:
  Home(Arena& arena, MoveWhen when) : arena_(arena), when_(when), generation_(fork_generation()) {}
  struct Known {
    std::uint64_t number;  // ascending
    std::shared_ptr<Peer> peer;
    bool is_leaving = false;  // no link any more, but a thread of theirs may still be at it
  };
  std::shared_ptr<Peer> next_peer(std::uint64_t& number);
  void forget_gone_locked();
  template <typename Matches>
  bool await_peers(const Matches& matches, base::Time deadline);
  void await_own_pins();

  // Fixed after construction.
  Board board_;
  Arena& arena_;  // the process's
  const MoveWhen when_;
  const unsigned generation_;
  std::atomic<std::uint64_t> last_connection_{0};
  std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<Known> peers_;
  std::uint64_t last_peer_ = 0;
};

}  // namespace softdat::transport::direct
