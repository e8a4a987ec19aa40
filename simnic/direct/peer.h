// SPDX-License-Identifier: BSD-2-Clause
// Peer: another process's key directory and arena, as we see them. Nothing in a key directory is trusted further than
// to name bytes within the arena it belongs to.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "memory/arena.h"
#include "memory/sparse_view.h"
#include "simnic/direct/key_directory.h"
#include "simnic/direct/layout.h"
#include "simnic/lock_places.h"
#include "transport/peer_resources.h"

namespace softdat::simnic::direct {

// A run of the peer's memory that we want to use.
struct Target {
  std::uint32_t key;
  std::uint64_t address;
  std::uint64_t length;
  std::uint32_t rights;
};

// How a connection reaches a peer: through this QP entry of the peer, while it is open for this connection. Its parts
// of the peer's key directory may be touched. Peer::find_door() makes one.
struct Door {
  std::uint32_t index = 0;
  std::uint64_t connection = 0;
  const QpEntry* entry = nullptr;
  const ReceiveEntry* receives = nullptr;
};

// What a peer hands over, and its place among our peers.
struct PeerParts {
  base::UniqueFd key_directory;
  base::UniqueFd arena;
  base::UniqueFd process;              // a pidfd of the peer; empty if it is this very process or cannot be had
  std::uint32_t owner = 0;             // the index of its arena in our key directory
  memory::Arena* own_arena = nullptr;  // that of this very process, if it is this one's
};

// Any thread.
class Peer final : public transport::PeerResources {
 public:
  // Null when these are not the files of a peer of our version.
  static std::shared_ptr<Peer> attach(PeerParts parts);

  std::uint32_t owner() const { return owner_; }

  // Makes the door of a connection. Empty if the system refuses a mapping.
  std::optional<Door> find_door(std::uint32_t qp_entry, std::uint64_t connection);

  // The peer's receive of that number, if it is to be had. It counts when the QP entry turns out to be open afterwards.
  static bool read_receive(const Door& door, std::uint64_t number, Receive& out);

  // What a pin of the peer's says; 0: nothing about the arena of that number.
  std::uint64_t pin_into(std::uint64_t arena, std::size_t slot) const;
  bool has_pins_into(std::uint64_t arena) const;
  // Whether the peer's process has ended. Asks the kernel.
  bool is_dead() const;
  // Whether its process is known to live. True, too, of one that is dying and has closed its sockets: the kernel tells
  // of the end a moment later. False if it cannot be asked. Asks the kernel.
  bool lives_on() const;
  // From now on it counts as ended.
  void note_dead() { is_dead_.store(true, std::memory_order_relaxed); }

 private:
  friend class Grip;

  // What is mapped of the arena at a time, and may be named by one target.
  static constexpr unsigned kViewShift = 32;
  static_assert(kMostPinned <= memory::Arena::kMostAtOnce);

  explicit Peer(PeerParts parts, std::unique_ptr<memory::SparseView> key_directory);
  const KeyDirectoryLayout& key_directory() const {
    return *reinterpret_cast<const KeyDirectoryLayout*>(key_directory_->data());
  }
  template <typename Part>
  bool open(const Part& part) {
    return key_directory_->open(offset_in_key_directory(key_directory(), part), sizeof part);
  }
  const KeyEntry& entry_of(std::uint32_t key);
  static bool admits(const KeyEntry& entry, const Target& target, const Door& door);
  std::byte* view(std::uint64_t offset, std::uint64_t length);
  memory::SparseView* map_view(std::size_t index);

  // Fixed after construction.
  const std::unique_ptr<memory::SparseView> key_directory_;
  const base::UniqueFd arena_;
  const base::UniqueFd process_;
  const std::uint32_t owner_;
  memory::Arena* const own_arena_;
  std::atomic<bool> is_dead_{false};
  // Published once each; null: not mapped yet.
  std::array<std::atomic<memory::SparseView*>, (memory::kArenaBytes >> kViewShift)> mapped_{};
  base::Mutex<locks::kDirectPeer> mutex_;
  // Guarded by mutex_.
  std::vector<std::unique_ptr<memory::SparseView>> views_;
};

// A pin of a peer's into the arena of that number, seen once.
struct StandingPin {
  std::shared_ptr<Peer> peer;
  std::uint64_t arena;
  std::size_t slot;
  std::uint64_t word;

  // Whether its holder has let go of it, or has died.
  bool is_over() const { return peer->pin_into(arena, slot) != word || peer->is_dead(); }
  bool operator==(const StandingPin&) const = default;
};

// Part of a peer's memory, pinned for one copy.
class Grip {
 public:
  // Pins the bytes [skip, skip + length) of the target, after a check of the whole target. `own`: our own key
  // directory. REQUIRES: length <= kMostPinned. False if the bytes cannot be reached directly; messages may still reach
  // them.
  Grip(Peer& peer, KeyDirectory& own, const Target& target, std::uint64_t skip, std::uint64_t length, const Door& door);

  explicit operator bool() const { return data_ != nullptr; }
  std::byte* data() const { return data_; }
  // After the copy: whether the peer has meanwhile taken pages away, so that the bytes may have gone nowhere.
  // The processor may look before its last stores can be seen: Arena::retire() waits for that.
  bool was_cut() const { return entry_.cut.load(std::memory_order_seq_cst) == key_; }

 private:
  const KeyEntry& entry_;
  const std::uint32_t key_;
  const std::uint64_t offset_;
  const Pin pin_;
  std::byte* data_ = nullptr;
};

}  // namespace softdat::simnic::direct
