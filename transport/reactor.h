// SPDX-License-Identifier: BSD-2-Clause
// Readiness of file descriptors, over Boost.Asio. It only says which descriptors are worth trying;
// reading and writing is the carriers' own business, so that a polling caller can go straight to a
// socket and around the reactor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/clock.h"

namespace softdat::transport {

enum Readiness : std::uint32_t { kReadable = 1, kWritable = 2 };

// Told, with the baton held, from Reactor::dispatch().
class ReadinessSink {
 public:
  virtual void on_ready(std::uint32_t readiness) = 0;

 protected:
  ~ReadinessSink() = default;
};

class Reactor {
 public:
  // Watches one descriptor, which the caller owns and closes after this. Destroy with the baton
  // held; the sink is not told afterwards.
  class Watch {
   public:
    virtual ~Watch() = default;
    // Asks to be told once when the descriptor becomes readable or writable. Repeated calls add up.
    virtual void want(std::uint32_t readiness) = 0;
  };

  // Throws std::system_error when there are no descriptors to be had.
  static std::unique_ptr<Reactor> create();
  virtual ~Reactor() = default;

  // Null when the kernel has no room for another watched descriptor, or the reactor has failed.
  virtual std::unique_ptr<Watch> watch(int fd, ReadinessSink& sink) = 0;

  // With the baton: tells the sinks of everything that is ready now (looks at the kernel when
  // `look` is set, else only at what wait() already found). Returns how many were told.
  virtual std::size_t dispatch(bool look) = 0;

  // Without the baton, one thread at a time: blocks until something is ready, interrupt(), or the
  // deadline.
  virtual void wait(base::Time deadline) = 0;
  virtual void interrupt() = 0;

  // Whether the descriptors that it stands on have been taken from it, as by a program that closes what it does not
  // know. Found out by dispatch() and wait(), within seconds; never over. Any thread.
  virtual bool has_failed() const = 0;
};

}  // namespace softdat::transport
