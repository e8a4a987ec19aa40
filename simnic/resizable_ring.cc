// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/resizable_ring.h"

#include <algorithm>
#include <bit>
#include <thread>

namespace softdat::simnic {

ResizableRing::ResizableRing(std::size_t capacity) : present_(&ring_of(capacity)) {}

CompletionRing& ResizableRing::ring_of(std::size_t capacity) {
  const std::size_t wanted = std::bit_ceil(std::max<std::size_t>(capacity, 2));
  // Rings are kept: a producer may still look at the old one. Sizes are powers of two, so there are few.
  for (const auto& old : rings_) {
    if (old->capacity() == wanted) return *old;
  }
  rings_.push_back(std::make_unique<CompletionRing>(wanted));
  return *rings_.back();
}

// Waits for the end of a move. In the middle of one the count would be too small: a thread would sleep over
// completions, or an event would be taken before completions that are older. The wait is short, because a move only
// copies.
std::size_t ResizableRing::size() const {
  for (;;) {
    const std::uint64_t moves = moves_.load(std::memory_order_seq_cst);
    const std::size_t count = present().size();
    if (moves % 2 == 0 && moves_.load(std::memory_order_seq_cst) == moves) return count;
    std::this_thread::yield();
  }
}

// A ring keeps its mark when it is left and taken again.
std::size_t ResizableRing::high_water() const {
  return std::max(present().high_water(), high_water_before_.load(std::memory_order_relaxed));
}

[[gnu::noinline]] bool ResizableRing::push_after_move(hca::Completion completion) {
  CompletionRing::Pushed pushed = present().push(completion);
  for (; pushed == CompletionRing::Pushed::kClosed; pushed = present().push(completion)) std::this_thread::yield();
  return pushed == CompletionRing::Pushed::kYes;
}

// Producers wait before the closed ring until there is another. A ring left behind is empty, and may become the present
// one again.
bool ResizableRing::resize(std::size_t capacity) {
  CompletionRing& from = present();
  if (from.size() > capacity) return false;
  CompletionRing& to = ring_of(capacity);
  if (&to == &from) return true;
  from.close();
  // Producers may have added some before close().
  if (from.size() > capacity) {
    from.open();
    return false;
  }
  move_to(to);
  return true;
}

void ResizableRing::move_to(CompletionRing& to) {
  // Odd while a move is under way. Pairs with the loads in size() (a seqlock).
  moves_.fetch_add(1, std::memory_order_seq_cst);
  hca::Completion completion;
  while (present().pop(completion)) to.put(completion);
  to.open();
  high_water_before_.store(high_water(), std::memory_order_relaxed);
  present_.store(&to, std::memory_order_seq_cst);
  moves_.fetch_add(1, std::memory_order_seq_cst);
}

}  // namespace softdat::simnic
