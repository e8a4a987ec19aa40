// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <span>

#include "base/event_count.h"
#include "hca/result.h"
#include "hca/types.h"

namespace softdat::hca {

// Told once per arm() that a waking completion was added, or that the queue overflowed. Same thread
// rule as QueuePairSink.
class CompletionSink {
 public:
  virtual void on_completion() = 0;
  // Completions were lost; the queue pairs that feed this queue are broken. Said once
  // until the queue is resized.
  virtual void on_overflow() = 0;

 protected:
  ~CompletionSink() = default;
};

// Completions in order of arrival. Must outlive the queue pairs that feed it. Every call from any
// thread.
class CompletionQueue {
 public:
  virtual ~CompletionQueue() = default;

  // Takes up to out.size() completions, each exactly once whatever threads poll. Does not progress
  // the device.
  virtual std::size_t poll(std::span<Completion> out) = 0;

  // Completions waiting now.
  virtual std::size_t size() const = 0;
  virtual std::size_t capacity() const = 0;

  // kInvalidState when more completions wait than the new capacity.
  virtual Outcome resize(std::size_t capacity) = 0;

  // Notified after every completion that is not quiet. Others may notify it too: it carries no
  // state. A waiter that wants solicited completions only looks at what it polled.
  virtual base::EventCount& event_count() = 0;

  // The sink's on_completion() is called once for the next waking completion (solicited_only: the
  // next solicited or failed one). Look at size() after arming.
  virtual void arm(bool solicited_only) = 0;
};

}  // namespace softdat::hca
