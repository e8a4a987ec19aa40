// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/completion_ring.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <new>

#include "base/assert.h"
#include "base/backoff.h"

namespace softdat::simnic {
namespace {

static_assert(sizeof(CompletionCell) == 40);

std::size_t round_up(std::size_t capacity) {
  return std::bit_ceil(std::max<std::size_t>(capacity, 2));
}

// calloc takes large blocks fresh from the kernel, so that a long queue costs what is used of it;
// the rest of a cache line is for the header's alignment.
void* allocate_block(std::size_t capacity) {
  void* memory = std::calloc(1, sizeof(RingHeader) + capacity * sizeof(CompletionCell) + alignof(RingHeader));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

RingHeader* align(void* memory) {
  constexpr std::uintptr_t kMask = alignof(RingHeader) - 1;
  return reinterpret_cast<RingHeader*>((reinterpret_cast<std::uintptr_t>(memory) + kMask) & ~kMask);
}

}  // namespace

void CompletionRing::Free::operator()(void* memory) const {
  std::free(memory);
}

CompletionRing::CompletionRing(std::size_t capacity)
    : mask_(round_up(capacity) - 1),
      block_(allocate_block(mask_ + 1)),
      header_(align(block_.get())),
      cells_(reinterpret_cast<CompletionCell*>(header_ + 1)) {}

// Before the claim, which may yet go to another producer: the mark then stands for the depth that this one found.
[[gnu::cold, gnu::noinline]] bool CompletionRing::rise_above(std::int64_t waiting) {
  if (waiting > static_cast<std::int64_t>(mask_)) return false;
  const auto depth = static_cast<std::size_t>(waiting) + 1;
  std::size_t known = high_water_.load(std::memory_order_relaxed);
  while (known < depth && !high_water_.compare_exchange_weak(known, depth, std::memory_order_relaxed)) {
  }
  return true;
}

void CompletionRing::close() {
  // No claim succeeds any more: the bit makes every position look too far from the head.
  const std::uint64_t end = Word(header_->tail).fetch_or(kClosedBit, std::memory_order_seq_cst) & ~kClosedBit;
  // The last claims may not have been made good yet.
  for (std::uint64_t position = Word(header_->head).load(std::memory_order_relaxed); position != end; ++position) {
    for (base::Backoff backoff; !is_published(position);) backoff.wait();
  }
}

void CompletionRing::open() {
  Word(header_->tail).fetch_and(~kClosedBit, std::memory_order_seq_cst);
}

// The tail goes ahead, still closed, so that the head never passes it.
void CompletionRing::put(const hca::Completion& completion) {
  const std::uint64_t position = Word(header_->tail).load(std::memory_order_relaxed) & ~kClosedBit;
  SOFTDAT_DEBUG_CHECK(size() < capacity(), "there is room for what is put into a ring", capacity());
  Word(header_->tail).store((position + 1) | kClosedBit, std::memory_order_seq_cst);
  publish(position, completion);
}

[[gnu::noinline]] bool CompletionRing::await_oldest(std::uint64_t position) const {
  for (base::Backoff backoff;; backoff.wait()) {
    if ((Word(header_->tail).load(std::memory_order_seq_cst) & ~kClosedBit) == position) return false;
    if (is_published(position)) return true;
  }
}

std::size_t CompletionRing::size() const {
  // Head first: it never passes the tail that is read after it.
  const std::uint64_t head = Word(header_->head).load(std::memory_order_seq_cst);
  const std::uint64_t tail = Word(header_->tail).load(std::memory_order_seq_cst) & ~kClosedBit;
  return std::min<std::uint64_t>(tail - head, capacity());
}

}  // namespace softdat::simnic
