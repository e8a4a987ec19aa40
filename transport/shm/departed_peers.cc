// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/departed_peers.h"

#include <new>
#include <utility>

namespace softdat::transport::shm {

void DepartedPeers::add(std::unique_ptr<DeathWatch> watch, const std::shared_ptr<PeerResources>& peer) try {
  watch->tell([this] { attention_.stir(); });
  departed_.push_back({std::move(watch), peer});
} catch (const std::bad_alloc&) {
  return;
}

void DepartedPeers::turn() {
  std::erase_if(departed_, [this](const Departed& departed) {
    if (!departed.watch->has_ended()) return false;
    static_cast<void>(resources_->detach_peer(departed.peer, true));
    return true;
  });
}

}  // namespace softdat::transport::shm
