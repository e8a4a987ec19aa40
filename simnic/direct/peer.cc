// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/direct/peer.h"

#include <poll.h>

#include <algorithm>
#include <new>
#include <utility>

namespace softdat::simnic::direct {
namespace {

// Where a byte lies, as the peer says at this moment.
std::uint64_t place_of(const KeyEntry& entry, std::uint64_t address) {
  return entry.offset.load(std::memory_order_relaxed) + (address - entry.address.load(std::memory_order_relaxed));
}

// Stands for an entry that cannot be mapped: no key.
constinit const KeyEntry kNoKey{};

}  // namespace

using memory::SparseView;

Peer::Peer(PeerParts parts, std::unique_ptr<SparseView> key_directory)
    : key_directory_(std::move(key_directory)),
      arena_(std::move(parts.arena)),
      process_(std::move(parts.process)),
      owner_(parts.owner),
      own_arena_(parts.own_arena) {}

std::shared_ptr<Peer> Peer::attach(PeerParts parts) {
  // Sealed and of the right size: a file that could shrink would raise SIGBUS in this process.
  if (!memory::is_shared_file(parts.key_directory.get(), kKeyDirectoryBytes) ||
      !memory::is_shared_file(parts.arena.get(), memory::kArenaBytes))
    return nullptr;
  auto view = std::make_unique<SparseView>(parts.key_directory.get(), 0, kKeyDirectoryBytes, SparseView::Rights::kRead);
  if (!*view || !view->open(0, kKeyDirectoryHead)) return nullptr;
  const auto& header = reinterpret_cast<const KeyDirectoryLayout*>(view->data())->header;
  if (header.magic != kKeyDirectoryMagic || header.version != kKeyDirectoryVersion) return nullptr;
  return std::shared_ptr<Peer>(new Peer(std::move(parts), std::move(view)));
}

std::optional<Door> Peer::find_door(std::uint32_t qp_entry, std::uint64_t connection) {
  const QpEntry& entry = key_directory().qp_entries[qp_entry % kQpEntries];
  const auto& receives = key_directory().receives[qp_entry % kQpEntries];
  if (!open(entry) || !open(receives)) return std::nullopt;
  return Door{.index = qp_entry, .connection = connection, .entry = &entry, .receives = receives};
}

const KeyEntry& Peer::entry_of(std::uint32_t key) {
  // The index wraps around, so no key leads out of the key directory.
  const KeyEntry& entry = key_directory().keys[(key >> kKeyTagBits) % kKeyEntries];
  return open(entry) ? entry : kNoKey;
}

// The place is read before the pin that has to name it, and again under the pin, when it is binding.
Grip::Grip(Peer& peer, KeyDirectory& own, const Target& target, std::uint64_t skip, std::uint64_t length,
           const Door& door)
    : entry_(peer.entry_of(target.key)),
      key_(target.key),
      offset_(place_of(entry_, target.address + skip)),
      pin_(own.pin(pin_word(offset_, length, peer.owner_, door.index))) {
  if (!pin_ || !peer.admits(entry_, target, door) || place_of(entry_, target.address + skip) != offset_) return;
  data_ = peer.view(offset_, length);
}

bool Peer::admits(const KeyEntry& entry, const Target& target, const Door& door) {
  const QpEntry& through = *door.entry;
  // Loaded after the pin was stored, both sequentially consistent (KeyDirectory::withdraw(), close_qp_entry()).
  if (through.open_for.load(std::memory_order_seq_cst) != door.connection) return false;
  if (target.key == 0 || entry.key.load(std::memory_order_seq_cst) != target.key) return false;
  if (entry.domain.load(std::memory_order_relaxed) != through.domain.load(std::memory_order_relaxed)) return false;
  if ((entry.access.load(std::memory_order_relaxed) & target.rights) != target.rights) return false;
  const std::uint64_t length = entry.length.load(std::memory_order_relaxed);
  // An address below the region's wraps to a large number, which fails the comparison.
  const std::uint64_t skip = target.address - entry.address.load(std::memory_order_relaxed);
  return target.length <= length && skip <= length - target.length;
}

bool Peer::read_receive(const Door& door, std::uint64_t number, Receive& out) {
  const ReceiveEntry& entry = door.receives[number % kReceives];
  if (entry.number.load(std::memory_order_acquire) != number + 1) return false;
  out.count = entry.count.load(std::memory_order_relaxed);
  // The peer may write anything into its key directory.
  if (out.count > kReceiveSegments) return false;
  for (std::size_t i = 0; i < out.count; ++i) {
    out.segments[i] = {.address = entry.segments[i].address.load(std::memory_order_relaxed),
                       .length = entry.segments[i].length.load(std::memory_order_relaxed),
                       .key = entry.segments[i].key.load(std::memory_order_relaxed)};
  }
  return true;
}

// This is about our own safety: within the file and one view, whatever the key directory says. A view overlaps the next
// one by as much as one pin may cover.
std::byte* Peer::view(std::uint64_t offset, std::uint64_t length) {
  if (length > kMostPinned || offset > memory::kArenaBytes - length) return nullptr;
  // A connection of the process to itself: the consumer may unmap its own view, so another one is used.
  if (own_arena_ != nullptr) return own_arena_->second_view(offset, length);
  const std::size_t index = offset >> kViewShift;
  SparseView* view = mapped_[index].load(std::memory_order_acquire);
  if (view == nullptr) [[unlikely]]
    view = map_view(index);
  const std::uint64_t place = offset - (std::uint64_t{index} << kViewShift);
  return view != nullptr && view->open(place, length) ? view->data() + place : nullptr;
}

// Once per view of a peer, hence hardly ever.
SparseView* Peer::map_view(std::size_t index) try {
  const std::lock_guard lock(mutex_);
  if (SparseView* const view = mapped_[index].load(std::memory_order_relaxed)) return view;
  const std::uint64_t begin = std::uint64_t{index} << kViewShift;
  const std::uint64_t length = std::min((std::uint64_t{1} << kViewShift) + kMostPinned, memory::kArenaBytes - begin);
  views_.reserve(views_.size() + 1);
  auto view = std::make_unique<SparseView>(arena_.get(), begin, length, SparseView::Rights::kReadWrite);
  if (!*view) return nullptr;
  view->keep_from_children();
  views_.push_back(std::move(view));
  // Pairs with the load in view(), which takes no lock.
  mapped_[index].store(views_.back().get(), std::memory_order_release);
  return views_.back().get();
} catch (const std::bad_alloc&) {
  return nullptr;
}

std::uint64_t Peer::pin_into(std::uint64_t arena, std::size_t slot) const {
  const std::uint64_t word = key_directory().pins[slot].word.load(std::memory_order_seq_cst);
  if (!is_claimed(word)) return 0;
  return key_directory().owners[owner_of(word)].load(std::memory_order_seq_cst) == arena ? word : 0;
}

bool Peer::has_pins_into(std::uint64_t arena) const {
  for (std::size_t slot = 0; slot < kPinSlots; ++slot) {
    if (pin_into(arena, slot) != 0) return true;
  }
  return false;
}

bool Peer::lives_on() const {
  return process_ && !is_dead();
}

bool Peer::is_dead() const {
  pollfd process = {.fd = process_.get(), .events = POLLIN, .revents = 0};
  return is_dead_.load(std::memory_order_relaxed) || (process_ && ::poll(&process, 1, 0) == 1);
}

}  // namespace softdat::simnic::direct
