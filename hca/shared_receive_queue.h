// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "hca/failure.h"
#include "hca/result.h"
#include "hca/types.h"

namespace softdat::hca {

// Same thread rule as QueuePairSink.
class SharedReceiveQueueSink {
 public:
  // Fewer receives than the limit are left; once per arm().
  virtual void on_low() = 0;

 protected:
  ~SharedReceiveQueueSink() = default;
};

// One moment's truth about a shared queue.
struct SharedReceiveCounts {
  std::uint32_t available;    // posted and not taken by a queue pair
  std::uint32_t outstanding;  // posted and not reaped: their completions have not been polled
};

// Receives that any of several queue pairs of the device may take, oldest first, when a message
// arrives. A receive's completion goes to the queue of the queue pair that took it; those that
// nobody has taken stay when a queue pair ends. Must outlive the queue pairs that use it; its
// destructor discards what is left, without completions. Every call from any thread.
class SharedReceiveQueue {
 public:
  virtual ~SharedReceiveQueue() = default;

  // Receives that may be outstanding; exactly as asked.
  virtual std::uint32_t capacity() const = 0;

  // Errors as QueuePair::post_recv; kLimitReached when capacity() are outstanding. Keys must belong
  // to the queue's own domain, whatever that of the queue pair which takes the receive.
  virtual Outcome post_recv(const RecvRequest& request) = 0;

  // As QueuePair::explain().
  virtual Failure explain(const RecvRequest&) const { return {}; }

  // kInvalidState when more are outstanding, kLimitReached beyond the device, kNoMemory. Failure
  // changes nothing; success loses nothing.
  virtual Outcome resize(std::uint32_t capacity) = 0;

  // The sink is told once, as soon as fewer than `limit` receives are available, which may be now.
  // Replaces an earlier limit; 0 is never reached.
  virtual void arm(std::uint32_t limit) = 0;

  virtual SharedReceiveCounts counts() const = 0;
  // The most receives that were outstanding at once; 0 where the device does not count them.
  virtual std::uint32_t high_water() const { return 0; }
};

}  // namespace softdat::hca
