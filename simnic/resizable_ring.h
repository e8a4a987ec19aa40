// SPDX-License-Identifier: BSD-2-Clause
// ResizableRing: a completion ring that can be exchanged for one of another size while others use it.
//
// resize() writes present_. No ring dies before this object, so a consumer with an old pointer finds an empty ring at
// worst, and a producer a closed one. resize() also writes moves_, which is odd while completions are in no ring; a
// consumer that finds nothing then looks again.
//
// Threads: any, but for what requires the baton. Owns its rings.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
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
  // Whether pop() would take nothing. May be wrong if it says no.
  bool looks_empty() const {
    const std::uint64_t moves = moves_.load(std::memory_order_seq_cst);
    return moves % 2 == 0 && present().looks_empty() && moves_.load(std::memory_order_seq_cst) == moves;
  }
  // The same with the baton, which keeps resize() away.
  bool looks_empty_with_baton() const { return present().looks_empty(); }

  // False: it is full, and nothing is changed.
  [[gnu::always_inline]] bool push(const hca::Completion& completion) {
    const CompletionRing::Pushed pushed = present().push(completion);
    return pushed == CompletionRing::Pushed::kYes ||
           (pushed == CompletionRing::Pushed::kClosed && push_after_move(completion));
  }
  // Takes the oldest. False: it was empty at some moment of the call.
  [[gnu::always_inline]] bool pop(hca::Completion& out) {
    const std::uint64_t moves = moves_.load(std::memory_order_seq_cst);
    if (present().pop(out)) return true;
    const bool has_missed_a_move = moves % 2 != 0 || moves_.load(std::memory_order_seq_cst) != moves;
    return has_missed_a_move && pop_after_move(out);
  }
  // False: more than `capacity` completions wait, and nothing is changed. Throws std::bad_alloc without any effect.
  // REQUIRES: the baton.
  [[nodiscard]] bool resize(std::size_t capacity);

 private:
  CompletionRing& present() const { return *present_.load(std::memory_order_acquire); }
  CompletionRing& ring_of(std::size_t capacity);
  void move_to(CompletionRing& to, std::span<hca::Completion> room);
  std::uint64_t await_no_move() const;
  bool pop_after_move(hca::Completion& out);
  bool push_after_move(hca::Completion completion);  // by value: see CompletionQueue::lose()

  std::vector<std::unique_ptr<CompletionRing>> rings_;  // one a size; changed with the baton
  std::atomic<CompletionRing*> present_;
  std::atomic<std::uint64_t> moves_{0};
  std::atomic<std::size_t> high_water_before_{0};  // of the rings before the present one; written by resize()
};

}  // namespace softdat::simnic
