// SPDX-License-Identifier: BSD-2-Clause
// PeerDirectory: the peers that may reach a NIC's memory directly, from the time their files arrive until no thread of
// theirs can be at our memory any more.
//
// Shares each peer with the links and queue pairs that use it. Owns the peer's index in our key directory while it is
// listed.
//
// Threads: any. Errors: null, where a peer cannot be had.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/unique_fd.h"
#include "memory/arena.h"
#include "simnic/direct/key_directory.h"
#include "simnic/direct/peer.h"
#include "simnic/lock_places.h"

namespace softdat::simnic::direct {

class PeerDirectory {
 public:
  // Both are ours, and outlive this.
  PeerDirectory(KeyDirectory& key_directory, memory::Arena& arena) : key_directory_(key_directory), arena_(arena) {}

  // Adds a peer. Null: the files are not those of a peer, or there is no memory or no place for it.
  std::shared_ptr<Peer> attach(base::UniqueFd key_directory, base::UniqueFd arena, base::UniqueFd process);
  // REQUIRES: no link and no queue pair uses the peer any more. `has_hung_up`: the kernel has closed the peer's end.
  // False: a thread of the peer may still be at our memory. Then the peer's files stay until its process has ended and
  // detach() is called again, or until another peer is attached or detached.
  bool detach(const std::shared_ptr<Peer>& peer, bool has_hung_up = false);

  // For a walk over all peers, without the lock between them: the first peer behind that number, which becomes its own.
  // Begins with 0; null after the last. A peer that is added later has seen what was withdrawn before.
  std::shared_ptr<Peer> next(std::uint64_t& number);

 private:
  struct Known {
    std::uint64_t number;  // ascending
    std::shared_ptr<Peer> peer;
    bool is_leaving = false;  // no link any more, but a thread of theirs may still be at it
  };
  void forget_gone_locked();

  // Fixed after construction.
  KeyDirectory& key_directory_;
  memory::Arena& arena_;
  base::Mutex<locks::kPeers> mutex_;
  // Guarded by mutex_.
  std::vector<Known> peers_;
  std::uint64_t last_number_ = 0;
};

}  // namespace softdat::simnic::direct
