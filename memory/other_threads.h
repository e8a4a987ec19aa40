// SPDX-License-Identifier: BSD-2-Clause
// What the other threads of this process have in memory that is about to be moved, as the kernel tells it.
//
// Moving pages is seen by a thread in two ways. The kernel stores on its own account into a thread's control block
// (when the thread changes processors, and when it ends) and onto its stack (signals); without privileges such a store
// into pages that stand still ends the process. And a futex that is not private is known to the kernel by its page:
// whoever sleeps on one is not found any more after its page has been replaced. Semaphores, mutexes and conditions
// shared between processes sleep so, and pthread_join().
#pragma once

#include <cstdint>
#include <vector>

#include "base/clock.h"

namespace softdat::memory {

// One look. It takes some microseconds for each thread. Throws std::bad_alloc.
class OtherThreads {
 public:
  enum class Look : std::uint8_t {
    kWhole,
    kFutexes,  // stand_in() and new_thread() do not know more then
  };
  explicit OtherThreads(Look look = Look::kWhole);

  // False: the kernel does not tell of some thread, so nothing may be moved. A thread of the kernel's own that works
  // for this process (io_uring) is one, and new_thread() another.
  bool is_complete() const { return is_complete_; }
  // A thread that exists and has not run yet. Only the thread itself can tell the kernel where its control block is, so
  // it is not known where that lies. 0: there is none. See await_first_run().
  int new_thread() const { return new_thread_; }
  // Whether some thread's control block or stack may lie in [begin, end), whole pages. `mapping_end`: of the mapping in
  // which the range ends. A stack that lies above the range in the same mapping may reach down into it.
  bool stand_in(std::uint64_t begin, std::uint64_t end, std::uint64_t mapping_end) const;
  // Whether some thread sleeps on a futex there that is not private.
  bool sleep_in(std::uint64_t begin, std::uint64_t end) const;
  // The addresses of such futexes, of every thread.
  const std::vector<std::uint64_t>& futexes() const { return futexes_; }

 private:
  struct Thread {
    std::uint64_t control;  // its control block
    std::uint64_t stack;    // its stack pointer while it sleeps, else 0
    bool is_main;
  };
  void list_threads();
  void look_at(int thread);
  void look_for_control_block(int thread, std::uint64_t stack);
  bool note_sleep(int thread, std::uint64_t& stack);
  void note_call(const std::uint64_t (&call)[7]);
  void note_vector(std::uint64_t waiters, std::uint64_t count);

  std::vector<int> ids_;
  std::vector<Thread> threads_;
  std::vector<std::uint64_t> futexes_;
  const Look look_;
  bool is_complete_ = true;
  int new_thread_ = 0;
};

// Waits until the thread has run for the first time, or has ended; false when the deadline comes first. No cancellation
// point.
bool await_first_run(int thread, base::Time deadline);

// Whether some handler of a signal runs on an alternate stack (sigaltstack), if its thread has one. The kernel does not
// tell where those of other threads lie. SIGSEGV and SIGBUS do not count: a thread has them by its own fault.
bool may_use_alternate_stacks();

// Wakes everyone who sleeps on futexes in [begin, end), whether the kernel knows them by the private pages that are or
// were there or by the file's pages. They look at their words again, and sleep again if they have to. For after the
// pages there have been replaced.
void wake_sleepers(const OtherThreads& threads, std::uint64_t begin, std::uint64_t end, int file, std::uint64_t offset);

}  // namespace softdat::memory
