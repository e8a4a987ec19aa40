// SPDX-License-Identifier: BSD-2-Clause
#include "transport/direct/peer.h"

#include <poll.h>

#include <utility>

namespace softdat::transport::direct {

Peer::Peer(SharedView board, base::UniqueFd arena, base::UniqueFd process)
    : board_(std::move(board)), arena_(std::move(arena)), process_(std::move(process)) {}

std::shared_ptr<Peer> Peer::attach(base::UniqueFd board, base::UniqueFd arena, base::UniqueFd process) {
  if (!is_shared_file(board.get(), kBoardBytes) || !is_shared_file(arena.get(), kArenaBytes)) return nullptr;
  SharedView view(board.get(), 0, kBoardBytes, SharedView::Rights::kRead);
  if (!view) return nullptr;
  const auto& header = reinterpret_cast<const BoardLayout*>(view.data())->header;
  if (header.magic != kBoardMagic || header.version != kBoardVersion) return nullptr;
  return std::shared_ptr<Peer>(new Peer(std::move(view), std::move(arena), std::move(process)));
}

std::byte* Peer::find(const Target& target, std::uint32_t gate, std::uint64_t connection) {
  const Gate& through = board().gates[gate % kGates];
  if (through.open_for.load(std::memory_order_seq_cst) != connection) return nullptr;
  const KeyEntry& entry = board().keys[(target.key >> kKeyTagBits) % kKeyEntries];
  if (target.key == 0 || entry.key.load(std::memory_order_seq_cst) != target.key) return nullptr;
  if (entry.domain.load(std::memory_order_relaxed) != through.domain.load(std::memory_order_relaxed)) return nullptr;
  if ((entry.access.load(std::memory_order_relaxed) & target.rights) != target.rights) return nullptr;
  const std::uint64_t length = entry.length.load(std::memory_order_relaxed);
  const std::uint64_t skip = target.address - entry.address.load(std::memory_order_relaxed);
  if (target.length > length || skip > length - target.length) return nullptr;
  // From here on it is about our own safety: within one window, whatever the board says.
  const std::uint64_t offset = entry.offset.load(std::memory_order_relaxed) + skip;
  if (offset >= kArenaBytes || target.length > kWindowBytes - offset % kWindowBytes) return nullptr;
  std::byte* base = window(offset / kWindowBytes);
  return base == nullptr ? nullptr : base + offset % kWindowBytes;
}

bool Peer::read_receive(std::uint32_t gate, std::uint64_t number, Receive& out) const {
  const ReceiveEntry& entry = board().receives[gate % kGates][number % kReceives];
  if (entry.number.load(std::memory_order_acquire) != number + 1) return false;
  out.count = entry.count.load(std::memory_order_relaxed);
  if (out.count > kReceiveSegments) return false;
  for (std::size_t i = 0; i < out.count; ++i) {
    out.segments[i] = {.address = entry.segments[i].address.load(std::memory_order_relaxed),
                       .length = entry.segments[i].length.load(std::memory_order_relaxed),
                       .key = entry.segments[i].key.load(std::memory_order_relaxed)};
  }
  return true;
}

std::byte* Peer::window(std::size_t index) {
  std::byte* base = windows_[index].load(std::memory_order_acquire);
  return base != nullptr ? base : map_window(index);
}

// Once per window of a peer, hence hardly ever.
std::byte* Peer::map_window(std::size_t index) {
  const std::lock_guard lock(mutex_);
  if (!views_[index]) {
    views_[index] = SharedView(arena_.get(), index * kWindowBytes, kWindowBytes, SharedView::Rights::kReadWrite);
    if (!views_[index]) return nullptr;
    views_[index].keep_from_children();
    windows_[index].store(views_[index].data(), std::memory_order_release);
  }
  return views_[index].data();
}

bool Peer::has_pins() const {
  for (std::size_t slot = 0; slot < kPinSlots; ++slot) {
    if (is_claimed(pin_word(slot))) return true;
  }
  return false;
}

bool Peer::is_dead() const {
  pollfd process = {.fd = process_.get(), .events = POLLIN, .revents = 0};
  return process_ && ::poll(&process, 1, 0) == 1;
}

}  // namespace softdat::transport::direct
