// SPDX-License-Identifier: BSD-2-Clause
// ResizableRing: a completion ring that can be exchanged for one of another size while producers use it.
//
// resize() writes present_. No ring dies before this object, so a producer with an old pointer finds a closed ring at
// worst. resize() also writes moves_, which is odd while completions are on their way from ring to ring; size() then
// looks again.
//
// Threads: push() and what tells sizes, any; pop(), looks_empty() and resize(), one at a time (the consumer). Owns its
// rings.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "simnic/completion_ring.h"

namespace softdat::simnic {

class ResizableRing {
 public:
  // Rounds up to a power of two. Throws std::bad_alloc.
  explicit ResizableRing(std::size_t capacity);

  std::size_t capacity() const { return present().capacity(); }
  std::size_t size() const;
  // The most completions that have waited at once, in any of the rings.
  std::size_t high_water() const;
  // The consumer lags behind, so that producers that can wait should.
  bool is_half_full() const { return present().is_half_full(); }
  // Whether pop() would take nothing.
  bool looks_empty() const { return present().looks_empty(); }

  // False: it is full, and nothing is changed.
  [[gnu::always_inline]] bool push(const hca::Completion& completion) {
    const CompletionRing::Pushed pushed = present().push(completion);
    return pushed == CompletionRing::Pushed::kYes ||
           (pushed == CompletionRing::Pushed::kClosed && push_after_move(completion));
  }
  // Takes the oldest. False: it was empty at some moment of the call.
  [[gnu::always_inline]] bool pop(hca::Completion& out) { return present().pop(out); }
  // False: more than `capacity` completions wait, and nothing is changed. Throws std::bad_alloc without any effect.
  // REQUIRES: the baton.
  [[nodiscard]] bool resize(std::size_t capacity);

 private:
  CompletionRing& present() const { return *present_.load(std::memory_order_acquire); }
  CompletionRing& ring_of(std::size_t capacity);
  void move_to(CompletionRing& to);
  bool push_after_move(hca::Completion completion);  // by value: see CompletionQueue::lose()

  std::vector<std::unique_ptr<CompletionRing>> rings_;  // one a size; changed with the baton
  std::atomic<CompletionRing*> present_;
  std::atomic<std::uint64_t> moves_{0};
  std::atomic<std::size_t> high_water_before_{0};  // of the rings before the present one; written by resize()
};

}  // namespace softdat::simnic
