// SPDX-License-Identifier: BSD-2-Clause
// What other threads of this process keep in memory that is about to be moved, as the kernel reports it.
//
// A thread can notice a move in two ways. First, the kernel itself stores into a thread's control block (when the
// thread changes processors, and when it ends) and onto its stack (signal frames). Without privileges such a store into
// pages that are being moved ends the process. Second, the kernel identifies a futex that is not private by its page,
// so a thread that sleeps on one is not woken after the page has been replaced. Semaphores, mutexes and conditions that
// processes share use such futexes, and so does pthread_join().
#pragma once

#include <cstdint>
#include <vector>

#include "base/clock.h"

namespace softdat::memory {

// A snapshot, taken by the constructor. Takes some microseconds for each thread. Throws std::bad_alloc. One thread at a
// time.
class OtherThreads {
 public:
  enum class Look : std::uint8_t {
    kWhole,
    kFutexes,  // stand_in() and unsettled() do not know more then
  };
  explicit OtherThreads(Look look = Look::kWhole);

  // False if the kernel does not report some thread, such as a worker of io_uring, or if there is an unsettled() one.
  // If false, no memory may be moved.
  bool is_complete() const { return is_complete_; }
  // A thread that has not run yet or that ends, or 0. It is not known where its control block lies: the thread itself
  // tells the kernel, in its first instructions, and the kernel forgets it before its last store there. See
  // await_settled().
  int unsettled() const { return unsettled_; }
  // Whether a thread's control block or stack may overlap [begin, end), whole pages. `mapping_end` is the end of the
  // mapping in which the range ends: a stack above the range in the same mapping may reach down into it.
  bool stand_in(std::uint64_t begin, std::uint64_t end, std::uint64_t mapping_end) const;
  // Whether a thread sleeps on a non-private futex in [begin, end).
  bool sleep_in(std::uint64_t begin, std::uint64_t end) const;
  // The addresses of all non-private futexes that threads sleep on.
  const std::vector<std::uint64_t>& futexes() const { return futexes_; }

 private:
  struct Thread {
    std::uint64_t control;  // its control block
    std::uint64_t stack;    // its stack pointer while it sleeps, else 0
    bool is_main;
  };
  void look_at(int thread);
  void look_for_control_block(int thread, std::uint64_t stack);

  std::vector<int> ids_;
  std::vector<Thread> threads_;
  std::vector<std::uint64_t> futexes_;
  const Look look_;
  bool is_complete_ = true;
  int unsettled_ = 0;
};

// Waits until an unsettled thread has begun or ended; false when the deadline comes first. No cancellation point.
bool await_settled(int thread, base::Time deadline);

// Whether a signal handler is installed with SA_ONSTACK. The kernel does not report where alternate stacks of other
// threads are. Handlers of SIGSEGV and SIGBUS do not count, because a thread raises these signals by its own access.
bool may_use_alternate_stacks();

// Wakes all threads that sleep on futexes in [begin, end), by the private pages and by the file's pages. REQUIRES: the
// pages there have just been replaced. A woken thread looks at its futex word and sleeps again if it must.
void wake_sleepers(const OtherThreads& threads, std::uint64_t begin, std::uint64_t end, int file, std::uint64_t offset);
// The same for those that sleep there now. Takes no memory.
void wake_sleepers(std::uint64_t begin, std::uint64_t end, int file, std::uint64_t offset);

}  // namespace softdat::memory
