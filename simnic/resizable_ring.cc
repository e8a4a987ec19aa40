// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/resizable_ring.h"

#include <algorithm>
#include <bit>
#include <thread>

namespace softdat::simnic {

ResizableRing::ResizableRing(std::size_t capacity) : present_(&ring_of(capacity)) {}

CompletionRing& ResizableRing::ring_of(std::size_t capacity) {
  const std::size_t wanted = std::bit_ceil(std::max<std::size_t>(capacity, 2));
  // Rings are kept: a poller may still look at the old one. Sizes are powers of two, so there are few.
  for (const auto& old : rings_) {
    if (old->capacity() == wanted) return *old;
  }
  rings_.push_back(std::make_unique<CompletionRing>(wanted));
  return *rings_.back();
}

std::size_t ResizableRing::size() const {
  for (;;) {
    const std::uint64_t moves = await_no_move();
    const std::size_t count = present().size();
    if (count != 0 || moves_.load(std::memory_order_seq_cst) == moves) return count;
  }
}

// A ring keeps its mark when it is left and taken again.
std::size_t ResizableRing::high_water() const {
  return std::max(present().high_water(), high_water_before_.load(std::memory_order_relaxed));
}

// A move copies a ring and calls nothing, so the wait is short.
std::uint64_t ResizableRing::await_no_move() const {
  std::uint64_t moves = moves_.load(std::memory_order_seq_cst);
  for (; moves % 2 != 0; moves = moves_.load(std::memory_order_seq_cst)) std::this_thread::yield();
  return moves;
}

// pop() may race with resize(), which has everything in no ring for a moment. "Nothing" would then make the caller
// wait for a notice that was given before.
[[gnu::noinline]] bool ResizableRing::pop_after_move(hca::Completion& out) {
  for (;;) {
    const std::uint64_t moves = await_no_move();
    if (present().pop(out)) return true;
    if (moves_.load(std::memory_order_seq_cst) == moves) return false;
  }
}

[[gnu::noinline]] bool ResizableRing::push_after_move(hca::Completion completion) {
  CompletionRing::Pushed pushed = present().push(completion);
  for (; pushed == CompletionRing::Pushed::kClosed; pushed = present().push(completion)) std::this_thread::yield();
  return pushed == CompletionRing::Pushed::kYes;
}

// Producers wait before the closed ring until there is another. Consumers may go on polling either ring, and each
// completion is taken from one of them once. All are claimed at once: one by one, a consumer could take a late one
// while we move the early. A ring left behind is empty and stays usable, so it does no harm to poll it, then or after
// it has become the present one again.
bool ResizableRing::resize(std::size_t capacity) {
  CompletionRing& from = present();
  if (from.size() > capacity) return false;
  CompletionRing& to = ring_of(capacity);
  if (&to == &from) return true;
  std::vector<hca::Completion> room(from.capacity());  // producers may still add until close()
  from.close();
  if (from.size() > capacity) {
    from.open();
    return false;
  }
  move_to(to, room);
  return true;
}

void ResizableRing::move_to(CompletionRing& to, std::span<hca::Completion> room) {
  // Odd while a move is under way. Pairs with await_no_move() and the comparison behind it (a seqlock).
  moves_.fetch_add(1, std::memory_order_seq_cst);
  const std::size_t count = present().pop(room);
  high_water_before_.store(high_water(), std::memory_order_relaxed);
  to.refill(room.first(count));
  present_.store(&to, std::memory_order_seq_cst);
  moves_.fetch_add(1, std::memory_order_seq_cst);
}

}  // namespace softdat::simnic
