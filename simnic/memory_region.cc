// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/memory_region.h"

#include "simnic/engine.h"
#include "simnic/lock_places.h"
#include "simnic/memory_table.h"

namespace softdat::simnic {

MemoryRegion::~MemoryRegion() {
  {
    const Engine::Hold hold(engine_);
    if (is_revoked_) return;
    table_.remove(key_);
    // Order: remove the key, wait for posters that hold a lane, withdraw the key from peers' sight, and wait for pins
    // without the baton (docs/THREADS.md, "The baton").
    engine_.await_posters();
    withdraw_with_baton();
  }
  await_peers();
}

hca::Outcome MemoryRegion::revoke() {
  {
    const Engine::Hold hold(engine_);
    if (is_revoked_) return hca::Done{};
    // A window is bound over the region. DAT refuses to free the LMR then (DAT_INVALID_STATE).
    if (!table_.remove_unused(key_)) return hca::fail(hca::Error::kInvalidState);
    is_revoked_ = true;
    engine_.await_posters();
    withdraw_with_baton();
  }
  await_peers();
  return hca::Done{};
}

// If another region has been given this key's slot meanwhile, the key directory keeps that one's:
// KeyDirectory::withdraw() compares the keys.
void MemoryRegion::withdraw_with_baton() {
  base::require_lock(locks::kBaton);
  if (direct_context_ != nullptr) withdrawn_ = direct_context_->withdraw(key_);
}

// Without the baton, because a peer may take his time.
void MemoryRegion::await_peers() {
  if (direct_context_ != nullptr) direct_context_->await(withdrawn_);
}

}  // namespace softdat::simnic
