// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "hca/completion_queue.h"
#include "simnic/completion_ring.h"

namespace softdat::simnic {

class Engine;
class ReceiveAccounts;

// A ring, who is to be told, and how.
//
// Who writes what: ring_ by resize(), with the baton, to a ring that never dies before the queue,
// so that a poller with an old pointer finds an empty ring at worst; armed_ by arm() (any thread)
// and back to kOff by the push that fires it.
class CompletionQueue final : public hca::CompletionQueue {
 public:
  // Throws std::bad_alloc.
  CompletionQueue(Engine& engine, ReceiveAccounts& accounts, std::size_t capacity, hca::CompletionSink& sink);
  ~CompletionQueue() override;

  std::size_t poll(std::span<hca::Completion> out) override;
  std::size_t size() const override { return ring().size(); }
  std::size_t capacity() const override { return ring().capacity(); }
  hca::Outcome resize(std::size_t capacity) override;
  base::EventCount& event_count() override { return event_count_; }
  void arm(bool solicited_only) override;

  // With the baton. False when the queue is full: the completion is lost, the sink hears
  // on_overflow() once, and the caller breaks its queue pair.
  bool push(const hca::Completion& completion, bool is_quiet);

 private:
  enum class Armed : std::uint8_t { kOff, kAny, kSolicited };

  CompletionRing& ring() const { return *ring_.load(std::memory_order_acquire); }
  CompletionRing& ring_of(std::size_t capacity);
  void wake(const hca::Completion& completion);

  // Fixed after construction.
  Engine& engine_;
  ReceiveAccounts& accounts_;  // of the shared receive queues whose completions are polled here
  hca::CompletionSink& sink_;
  std::atomic<CompletionRing*> ring_;
  std::atomic<Armed> armed_{Armed::kOff};
  base::EventCount event_count_;
  // Owned by the baton.
  std::vector<std::unique_ptr<CompletionRing>> rings_;  // the present one and those left by resize(), one a size
  bool has_overflowed_ = false;
};

}  // namespace softdat::simnic
