// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/completion_queue.h"

#include <new>
#include <utility>

#include "simnic/engine.h"

namespace softdat::simnic {
namespace {

constexpr std::size_t kKindsOfUpcalls = 2;  // arrivals and the overflow

}  // namespace

CompletionQueue::CompletionQueue(Engine& engine, hca::ReceiveAccounts& accounts, std::size_t capacity,
                                 hca::CompletionSink& sink)
    : engine_(engine), accounts_(accounts), sink_(sink), ring_(capacity) {
  engine_.upcalls().reserve(kKindsOfUpcalls);
}

CompletionQueue::~CompletionQueue() {
  // First, because a sink that is called polls.
  engine_.upcalls().forget(this);
  // No queue pair feeds it any more, so nothing new is pushed; what is left will not be polled.
  hca::Completion left;
  while (poll({&left, 1}) == 1) {
  }
  engine_.upcalls().release(kKindsOfUpcalls);
}

std::size_t CompletionQueue::poll(std::span<hca::Completion> out) {
  std::size_t count = 0;
  while (count < out.size() && take(out[count])) ++count;
  return count;
}

void CompletionQueue::set_share(Share share, bool has_resize) {
  share_ = std::move(share);
  if (!has_resize) most_ = ring_.capacity();
}

hca::Outcome CompletionQueue::resize(std::size_t capacity) try {
  if (capacity > most_) return hca::fail(hca::Error::kUnsupported);
  const Engine::Hold hold(engine_);
  if (!ring_.resize(capacity)) return hca::fail(hca::Error::kInvalidState);
  has_overflowed_ = false;
  return hca::Done{};
} catch (const std::bad_alloc&) {
  return hca::fail(hca::Error::kNoMemory);
}

void CompletionQueue::arm(bool solicited_only) {
  // The caller then looks at size(). Pairs with push(), which claims a cell and then looks at armed_: either the caller
  // sees the claim, or fire() sends the upcall.
  armed_.store(solicited_only ? Armed::kSolicited : Armed::kAny, std::memory_order_seq_cst);
}

void CompletionQueue::lose_one() {
  lost_.fetch_add(1, std::memory_order_relaxed);
  // One upcall for each overflow; resize() begins anew.
  if (!has_overflowed_.exchange(true)) engine_.upcalls().post_counted(this, OverflowUpcall{&sink_});
}

void CompletionQueue::wake_all() {
  event_count_.notify();
  if (armed_.exchange(Armed::kOff, std::memory_order_seq_cst) != Armed::kOff) {
    engine_.upcalls().post_coalesced(this, CompletionUpcall{&sink_});
  }
}

[[gnu::noinline]] bool CompletionQueue::lose(std::uint16_t srq_account) {
  lose_one();
  // A lost completion will never be polled, so its receive no longer counts against the shared queue.
  accounts_.settle(srq_account);
  return false;
}

[[gnu::noinline]] void CompletionQueue::fire(bool is_solicited) {
  Armed armed = armed_.load(std::memory_order_seq_cst);
  if (armed == Armed::kOff) return;
  if (armed == Armed::kSolicited && !is_solicited) return;
  // One notification for each arm(): of several producers the one that disarms posts it.
  if (armed_.compare_exchange_strong(armed, Armed::kOff, std::memory_order_seq_cst)) {
    engine_.upcalls().post_coalesced(this, CompletionUpcall{&sink_});
  }
}

}  // namespace softdat::simnic
