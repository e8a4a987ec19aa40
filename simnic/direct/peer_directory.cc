// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/direct/peer_directory.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/uncancelled.h"

namespace softdat::simnic::direct {

std::shared_ptr<Peer> PeerDirectory::attach(base::UniqueFd key_directory, base::UniqueFd arena,
                                            base::UniqueFd process) try {
  const std::lock_guard lock(mutex_);
  forget_gone_locked();
  if (peers_.capacity() == peers_.size()) peers_.reserve(2 * peers_.size() + 8);
  // The inode of the arena's file names it in every key directory of this host.
  const std::uint64_t number = memory::identify_file(arena.get()).inode;
  const auto owner = number == 0 ? std::nullopt : key_directory_.add_owner(number);
  if (!owner) return nullptr;
  memory::Arena* const own_arena = arena_.is_same_file(arena.get()) ? &arena_ : nullptr;
  std::shared_ptr<Peer> peer;
  try {
    peer = Peer::attach({std::move(key_directory), std::move(arena), std::move(process), *owner, own_arena});
  } catch (const std::bad_alloc&) {
  }
  if (peer == nullptr) {
    key_directory_.remove_owner(*owner);
    return nullptr;
  }
  peers_.push_back({.number = ++last_number_, .peer = peer});
  return peer;
} catch (const std::bad_alloc&) {
  return nullptr;
}

// The kernel closes the peer's end of a link when the peer dies, or has ended its connections: no thread of it is in
// the middle of a copy then. But the peer's program may have closed the socket itself; such a peer lives on with its
// pins. If this side has ended the link, a thread of the peer may be in the middle of a copy, too. A peer that has pins
// and is dying looks like one that lives; the caller is told of its end.
bool PeerDirectory::detach(const std::shared_ptr<Peer>& peer, bool has_hung_up) {
  if (has_hung_up && !(peer->has_pins_into(arena_.number()) && peer->lives_on())) peer->note_dead();
  const std::lock_guard lock(mutex_);
  for (Known& known : peers_) {
    if (known.peer == peer) known.is_leaving = true;
  }
  forget_gone_locked();
  return std::ranges::find(peers_, peer, &Known::peer) == peers_.end();
}

void PeerDirectory::forget_gone_locked() {
  base::require_lock(locks::kPeers);
  const base::Uncancelled guard;
  std::erase_if(peers_, [this](const Known& known) {
    if (!known.is_leaving || (known.peer->has_pins_into(arena_.number()) && !known.peer->is_dead())) return false;
    key_directory_.remove_owner(known.peer->owner());
    return true;
  });
  // Pages that were taken away from peers that have gone may be lent again.
  arena_.lent().release();
}

std::shared_ptr<Peer> PeerDirectory::next(std::uint64_t& number) {
  const std::lock_guard lock(mutex_);
  const auto next = std::ranges::upper_bound(peers_, number, {}, &Known::number);
  if (next == peers_.end()) return nullptr;
  number = next->number;
  return next->peer;
}

}  // namespace softdat::simnic::direct
