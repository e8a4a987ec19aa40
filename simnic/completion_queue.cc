// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/completion_queue.h"

#include <algorithm>
#include <bit>
#include <new>
#include <thread>

#include "simnic/engine.h"

namespace softdat::simnic {
namespace {

constexpr std::size_t kKindsOfUpcalls = 2;  // arrivals and the overflow

}  // namespace

CompletionQueue::CompletionQueue(Engine& engine, hca::ReceiveAccounts& accounts, std::size_t capacity,
                                 hca::CompletionSink& sink)
    : engine_(engine), accounts_(accounts), sink_(sink), ring_(nullptr) {
  rings_.push_back(std::make_unique<CompletionRing>(capacity));
  ring_.store(rings_.back().get(), std::memory_order_release);
  engine_.upcalls().reserve(kKindsOfUpcalls);
}

CompletionQueue::~CompletionQueue() {
  // No queue pair feeds it any more, so nothing new is pushed; what is left will not be polled.
  hca::Completion left;
  while (poll({&left, 1}) == 1) {
  }
  engine_.upcalls().forget(this);
  engine_.upcalls().release(kKindsOfUpcalls);
}

std::size_t CompletionQueue::poll(std::span<hca::Completion> out) {
  std::size_t count = 0;
  while (count < out.size() && take(out[count])) ++count;
  return count;
}

// take() may race with resize(), which has everything in no ring for a moment. "Nothing" would then make the caller
// wait for a notice that was given before.
[[gnu::noinline]] bool CompletionQueue::take_after_move(hca::Completion& out) {
  for (;;) {
    const std::uint64_t moves = await_no_move();
    if (ring().pop(out)) return true;
    if (moves_.load(std::memory_order_seq_cst) == moves) return false;
  }
}

std::size_t CompletionQueue::size() const {
  for (;;) {
    const std::uint64_t moves = await_no_move();
    const std::size_t count = ring().size();
    if (count != 0 || moves_.load(std::memory_order_seq_cst) == moves) return count;
  }
}

// A ring keeps its mark when it is left and taken again.
std::size_t CompletionQueue::high_water() const {
  return std::max(ring().high_water(), high_water_before_.load(std::memory_order_relaxed));
}

// A move copies a ring and calls nothing, so the wait is short.
std::uint64_t CompletionQueue::await_no_move() const {
  std::uint64_t moves = moves_.load(std::memory_order_seq_cst);
  for (; moves % 2 != 0; moves = moves_.load(std::memory_order_seq_cst)) std::this_thread::yield();
  return moves;
}

CompletionRing& CompletionQueue::ring_of(std::size_t capacity) {
  const std::size_t wanted = std::bit_ceil(std::max<std::size_t>(capacity, 2));
  for (const auto& old : rings_) {
    if (old->capacity() == wanted) return *old;
  }
  rings_.push_back(std::make_unique<CompletionRing>(wanted));
  return *rings_.back();
}

void CompletionQueue::set_share(Share share, bool has_resize) {
  share_ = std::move(share);
  if (!has_resize) most_ = ring().capacity();
}

// Producers wait before the closed ring until there is another. Consumers may go on polling either ring, and each
// completion is taken from one of them once. All are claimed at once: one by one, a consumer could take a late one
// while we move the early. A ring left behind is empty and stays usable, so it does no harm to poll it, then or after
// it has become the present one again.
hca::Outcome CompletionQueue::resize(std::size_t capacity) {
  if (capacity > most_) return hca::fail(hca::Error::kUnsupported);
  const Engine::Hold hold(engine_);
  CompletionRing& from = ring();
  if (from.size() > capacity) return hca::fail(hca::Error::kInvalidState);
  try {
    CompletionRing& to = ring_of(capacity);
    if (&to != &from) {
      std::vector<hca::Completion> room(from.capacity());  // producers may still add until close()
      from.close();
      if (from.size() > capacity) {
        from.open();
        return hca::fail(hca::Error::kInvalidState);
      }
      move_to(to, room);
    }
  } catch (const std::bad_alloc&) {
    return hca::fail(hca::Error::kNoMemory);
  }
  has_overflowed_ = false;
  return hca::Done{};
}

void CompletionQueue::move_to(CompletionRing& to, std::span<hca::Completion> room) {
  moves_.fetch_add(1, std::memory_order_seq_cst);
  const std::size_t count = ring().pop(room);
  high_water_before_.store(high_water(), std::memory_order_relaxed);
  to.refill(room.first(count));
  ring_.store(&to, std::memory_order_seq_cst);
  moves_.fetch_add(1, std::memory_order_seq_cst);
}

void CompletionQueue::arm(bool solicited_only) {
  armed_.store(solicited_only ? Armed::kSolicited : Armed::kAny, std::memory_order_seq_cst);
}

[[gnu::noinline]] bool CompletionQueue::add_after_move(const hca::Completion& completion) {
  CompletionRing::Pushed pushed = ring().push(completion);
  for (; pushed == CompletionRing::Pushed::kClosed; pushed = ring().push(completion)) std::this_thread::yield();
  return pushed == CompletionRing::Pushed::kYes;
}

void CompletionQueue::lose_one() {
  lost_.fetch_add(1, std::memory_order_relaxed);
  if (!has_overflowed_.exchange(true)) engine_.upcalls().post_counted(this, OverflowUpcall{&sink_});
}

void CompletionQueue::wake_all() {
  event_count_.notify();
  if (armed_.exchange(Armed::kOff, std::memory_order_seq_cst) != Armed::kOff) {
    engine_.upcalls().post_coalesced(this, CompletionUpcall{&sink_});
  }
}

[[gnu::noinline]] bool CompletionQueue::lose(const hca::Completion& completion) {
  lose_one();
  accounts_.settle(completion.srq_account);
  return false;
}

[[gnu::noinline]] void CompletionQueue::fire(const hca::Completion& completion) {
  Armed armed = armed_.load(std::memory_order_seq_cst);
  if (armed == Armed::kOff) return;
  const bool is_solicited = completion.solicited || completion.status != hca::CompletionStatus::kSuccess;
  if (armed == Armed::kSolicited && !is_solicited) return;
  if (armed_.compare_exchange_strong(armed, Armed::kOff, std::memory_order_seq_cst)) {
    engine_.upcalls().post_coalesced(this, CompletionUpcall{&sink_});
  }
}

}  // namespace softdat::simnic
