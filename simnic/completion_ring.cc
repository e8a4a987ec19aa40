// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/completion_ring.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <new>

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
  for (std::uint64_t position = Word(header_->head).load(std::memory_order_acquire); position != end; ++position) {
    const auto is_missing = [&] { return Word(cell(position).number).load(std::memory_order_acquire) < position + 1; };
    for (base::Backoff backoff; is_missing();) backoff.wait();
  }
}

void CompletionRing::open() {
  Word(header_->tail).fetch_and(~kClosedBit, std::memory_order_seq_cst);
}

// The tail goes ahead, still closed, so that no head ever passes it.
void CompletionRing::refill(std::span<const hca::Completion> completions) {
  std::uint64_t position = Word(header_->tail).load(std::memory_order_relaxed) & ~kClosedBit;
  Word(header_->tail).store((position + completions.size()) | kClosedBit, std::memory_order_seq_cst);
  for (const hca::Completion& completion : completions) {
    write(cell(position), completion);
    // Pairs with the consumer's load of the number: the cell's words are whole when it matches.
    Word(cell(position).number).store(position + 1, std::memory_order_release);
    ++position;
  }
  open();
}

// Only a copy: pop() drops it if another consumer has moved the head.
inline std::size_t CompletionRing::copy_from(std::uint64_t position, std::span<hca::Completion> out) const {
  std::size_t count = 0;
  for (; count < out.size(); ++count, ++position) {
    if (Word(cell(position).number).load(std::memory_order_seq_cst) != position + 1) break;
    out[count] = read(cell(position));
  }
  return count;
}

std::size_t CompletionRing::pop(std::span<hca::Completion> out) {
  Word head(header_->head);
  std::uint64_t position = head.load(std::memory_order_acquire);
  for (;;) {
    const std::size_t count = copy_from(position, out);
    if (count == 0) {
      if (out.empty() || (position = await_oldest(position)) == kNone) return 0;
    } else if (head.compare_exchange_weak(position, position + count, std::memory_order_acq_rel)) {
      // The copies count only if no other consumer moved the head meanwhile.
      return count;
    }
  }
}

[[gnu::noinline]] std::uint64_t CompletionRing::await_oldest(std::uint64_t position) const {
  for (base::Backoff backoff;; backoff.wait()) {
    const std::uint64_t now = Word(header_->head).load(std::memory_order_acquire);
    if (now != position) return now;
    if (Word(cell(position).number).load(std::memory_order_seq_cst) == position + 1) return position;
    // The head is never behind `position`, nor ahead of the tail: where the tail is there, so was the head.
    if ((Word(header_->tail).load(std::memory_order_seq_cst) & ~kClosedBit) == position) return kNone;
  }
}

std::size_t CompletionRing::size() const {
  // Head first: it never passes the tail that is read after it.
  const std::uint64_t head = Word(header_->head).load(std::memory_order_seq_cst);
  const std::uint64_t tail = Word(header_->tail).load(std::memory_order_seq_cst) & ~kClosedBit;
  return std::min<std::uint64_t>(tail - head, capacity());
}

}  // namespace softdat::simnic
