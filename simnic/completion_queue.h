// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>
#include <utility>

#include "hca/completion_queue.h"
#include "hca/receive_accounts.h"
#include "simnic/quota.h"
#include "simnic/resizable_ring.h"

namespace softdat::simnic {

class Engine;

// A ring of completions, and the sink and waiters that it wakes. Threads: as hca::CompletionQueue.
//
// A producer that finds the ring full writes has_overflowed_, and resize() clears it. arm() (any thread) writes armed_,
// and the push that fires it sets it back to kOff.
//
// A thread that polls, and takes the baton because the queue is empty, claims the first completion that its section
// brings. This one goes straight to the poller, and not through the ring.
class CompletionQueue final : public hca::CompletionQueue {
 public:
  // Throws std::bad_alloc.
  CompletionQueue(Engine& engine, hca::ReceiveAccounts& accounts, std::size_t capacity, hca::CompletionSink& sink);
  ~CompletionQueue() override;

  std::size_t poll(std::span<hca::Completion> out) override;
  std::size_t size() const override { return ring_.size(); }
  std::uint64_t lost() const override { return lost_.load(std::memory_order_relaxed); }
  std::size_t capacity() const override { return ring_.capacity(); }
  std::size_t high_water() const override { return ring_.high_water(); }
  hca::Outcome resize(std::size_t capacity) override;
  base::EventCount& event_count() override { return event_count_; }
  void arm(bool solicited_only) override;

  // For the maker, before others know the queue. `has_resize`: resize() may exceed the present capacity.
  void set_share(Share share, bool has_resize);

  // The completions that wait.
  const ResizableRing& ring() const { return ring_; }

  // Any thread. False when the queue is full: the completion is lost, the sink hears on_overflow() once (until
  // the queue is resized), and the caller breaks its queue pair. Calls no sink; that is left in the upcall queue.
  [[gnu::always_inline]] bool push(const hca::Completion& completion, bool is_quiet) {
    if (!ring_.push(completion)) [[unlikely]]
      return lose(completion.srq_account);
    if (!is_quiet) wake(completion);
    return true;
  }

  // With the baton, by a thread that polls: the next completion of this section goes to `out`, if none waits and nobody
  // is to be called for it.
  void claim(hca::Completion& out) { claim_ = &out; }
  // With the baton. False: no poller claims the completion, or may have it.
  [[gnu::always_inline]] bool give_to_poller(const hca::Completion& completion) {
    if (claim_ == nullptr || !may_go_to_poller()) return false;
    *std::exchange(claim_, nullptr) = completion;
    return true;
  }
  // Ends the claim. Whether `out` was written.
  bool end_claim() { return std::exchange(claim_, nullptr) == nullptr; }
  // Takes the oldest completion, as poll() and on its terms.
  [[gnu::always_inline]] bool take(hca::Completion& out) {
    if (!ring_.pop(out)) return false;
    settle(out);
    return true;
  }
  // After the completion has been taken: its receive does not count any more.
  void settle(const hca::Completion& taken) {
    if (taken.srq_account != 0) [[unlikely]]
      accounts_.settle(taken.srq_account);
  }

  // For fault injection, any thread. As push() of a completion that finds the queue full.
  void lose_one();
  // Wakes as a completion does, without one.
  void wake_all();

 private:
  enum class Armed : std::uint8_t { kOff, kAny, kSolicited };

  // A completion must not overtake one that waits in the ring. Called in the thread of the poller that claims.
  bool may_go_to_poller() const { return armed_.load(std::memory_order_relaxed) == Armed::kOff && ring_.looks_empty(); }
  // lose() and fire() take no reference to the completion: it then needs no address, and stays in registers.
  bool lose(std::uint16_t srq_account);
  // The caller of arm() stores armed_ and then loads size(); push() claims a cell and then loads armed_. So at least
  // one of them sees the other's store.
  void wake(const hca::Completion& completion) {
    event_count_.notify();
    if (armed_.load(std::memory_order_seq_cst) == Armed::kOff) return;
    // An error counts as solicited, as in InfiniBand: a program that sleeps must hear of it.
    fire(completion.solicited || completion.status != hca::CompletionStatus::kSuccess);
  }
  void fire(bool is_solicited);

  // Fixed after construction.
  Engine& engine_;
  hca::ReceiveAccounts& accounts_;  // of the shared receive queues whose completions are polled here
  hca::CompletionSink& sink_;
  ResizableRing ring_;
  std::atomic<Armed> armed_{Armed::kOff};
  std::atomic<bool> has_overflowed_{false};
  std::atomic<std::uint64_t> lost_{0};
  base::EventCount event_count_;
  // Owned by the baton.
  hca::Completion* claim_ = nullptr;  // where the poller of this section wants its completion
  // Set by the maker.
  Share share_;
  std::size_t most_ = ~std::size_t{0};  // that resize() can reach
};

}  // namespace softdat::simnic
