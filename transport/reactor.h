// SPDX-License-Identifier: BSD-2-Clause
// Reactor: reports which file descriptors are readable or writable, over Boost.Asio. Carriers read and write the
// descriptors themselves, so a polling thread can use a socket without the reactor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/clock.h"
#include "base/event_count.h"

namespace softdat::transport {

enum Readiness : std::uint32_t { kReadable = 1, kWritable = 2 };

// Called by Reactor::dispatch(), with the baton.
class ReadinessSink {
 public:
  virtual void on_ready(std::uint32_t readiness) = 0;

 protected:
  ~ReadinessSink() = default;
};

class Reactor {
 public:
  // Watches one descriptor. The caller owns the descriptor and closes it after the Watch is destroyed. REQUIRES of the
  // destructor: the baton. The sink is not called afterwards.
  class Watch {
   public:
    virtual ~Watch() = default;
    // Has the sink called once when the descriptor becomes readable or writable. Calls add up.
    virtual void want(std::uint32_t readiness) = 0;
  };

  // Throws std::system_error if no descriptor can be had.
  static std::unique_ptr<Reactor> create();
  virtual ~Reactor() = default;

  // Null if the kernel cannot watch another descriptor, or the reactor has failed. With the baton.
  virtual std::unique_ptr<Watch> watch(int fd, ReadinessSink& sink) = 0;

  // Calls the sinks of ready descriptors. Asks the kernel if `look` is set or a wait has ended since; otherwise uses
  // what other threads have found. Returns how many were called. With the baton.
  virtual std::size_t dispatch(bool look) = 0;

  // Announces a wait(), which must follow. From then on a dispatch() that has called a sink ends that wait when it
  // returns. Call this before you tell peers that you sleep, and look whether they have sent something: what a sink
  // does meanwhile may have to be told to them again. Without the baton, one thread at a time.
  virtual void prepare_wait() = 0;
  // Blocks until a descriptor is ready, interrupt() is called, a dispatch() ends the wait, or the deadline passes.
  // Announces itself where prepare_wait() was not called. Without the baton, one thread at a time.
  virtual void wait(base::Time deadline) = 0;
  // The same for a thread of the program's: a cancellation point, and a signal handler that runs on the thread ends it
  // (kInterrupted). Lasts 2 s at most. REQUIRES: can_wait_cancellably().
  virtual base::WakeReason wait_cancellably(base::Time) { return base::WakeReason::kNotified; }
  // Any thread.
  virtual bool can_wait_cancellably() const { return false; }
  virtual void interrupt() = 0;

  // Whether the consumer has closed the reactor's own descriptors, as programs do that close all descriptors.
  // dispatch() and wait() notice it within seconds. Does not change back. Any thread.
  virtual bool has_failed() const = 0;
};

}  // namespace softdat::transport
