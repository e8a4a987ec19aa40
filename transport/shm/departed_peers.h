// SPDX-License-Identifier: BSD-2-Clause
// DepartedPeers: peers whose link has ended, but whose process may still be at our memory. When it has ended, the NIC
// is told (ResourceExchange::detach_peer). REQUIRES the baton.
#pragma once

#include <memory>
#include <vector>

#include "transport/peer_resources.h"
#include "transport/shm/attention.h"
#include "transport/shm/death_watch.h"

namespace softdat::transport::shm {

class DepartedPeers {
 public:
  // Both outlive it; `resources` may be null if there are no peers' resources.
  DepartedPeers(ResourceExchange* resources, Attention& attention) : resources_(resources), attention_(attention) {}

  // detach_peer() has answered false: has it called again when the peer's process has ended. Without memory to note the
  // peer, the NIC finds out when it meets another one.
  void add(std::unique_ptr<DeathWatch> watch, const std::shared_ptr<PeerResources>& peer);
  void turn();

 private:
  struct Departed {
    std::unique_ptr<DeathWatch> watch;
    std::shared_ptr<PeerResources> peer;
  };

  ResourceExchange* const resources_;
  Attention& attention_;
  std::vector<Departed> departed_;
};

}  // namespace softdat::transport::shm
