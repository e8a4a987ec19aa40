// SPDX-License-Identifier: BSD-2-Clause
// CompletionQueue: where the completions of queue pairs are queued until the consumer takes them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/event_count.h"
#include "hca/result.h"
#include "hca/types.h"

namespace softdat::hca {

// Called once per arm() when a completion that wakes has been added, and when the queue overflows. Called as
// QueuePairSink is. Owned by the caller of Device::create_cq(); outlives the queue.
class CompletionSink {
 public:
  virtual void on_completion() = 0;
  // Completions were lost, and the queue pairs that feed this queue are broken. Called once until the queue is resized.
  virtual void on_overflow() = 0;

 protected:
  ~CompletionSink() = default;
};

// Completions in order of arrival. Must outlive the queue pairs that feed it. No call calls a sink.
//
// Threads: the caller must serialize poll(), resize() and Device::poll() of one queue. All other calls: any thread. The
// destructor waits for a running call of the sink, which may poll.
class CompletionQueue {
 public:
  virtual ~CompletionQueue() = default;

  // Takes up to out.size() completions and returns how many. Does not make progress: see Device::progress().
  virtual std::size_t poll(std::span<Completion> out) = 0;

  // How many completions wait. May cost more than an empty poll().
  virtual std::size_t size() const = 0;
  virtual std::size_t capacity() const = 0;
  // How many were lost so far; 0 where the device does not count them.
  virtual std::uint64_t lost() const { return 0; }
  // The most completions that have waited at once so far; 0 where the device does not count them.
  virtual std::size_t high_water() const { return 0; }

  // kInvalidState if more completions wait than the new capacity; kUnsupported; kNoMemory. Failure changes nothing.
  virtual Outcome resize(std::size_t capacity) = 0;

  // Notified after every completion that is not kQuiet. The owner of the queue may notify it too. A waiter for
  // solicited completions must look at what it polled.
  virtual base::EventCount& event_count() = 0;

  // Has on_completion() called once, for the next completion that wakes (solicited_only: the next solicited or failed
  // one). The caller must look at size() afterwards: a completion that was there before does not count.
  virtual void arm(bool solicited_only) = 0;
};

// Destroys the queue. `queue` keeps its value until the queue is gone (reset() would clear it before), because a
// running call of the sink may use it.
inline void destroy(std::unique_ptr<CompletionQueue>& queue) {
  delete queue.get();
  static_cast<void>(queue.release());
}

}  // namespace softdat::hca
