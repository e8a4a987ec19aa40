// SPDX-License-Identifier: BSD-2-Clause
#include "base/own_threads.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "base/backoff.h"
#include "base/forks.h"

namespace softdat::base {
namespace {

// The lower half is how many there are, the upper how often that has changed.
std::atomic<std::uint64_t> own{0};
constexpr std::uint64_t kChange = std::uint64_t{1} << 32;
// How many threads there were when we last waited in vain for some of them to end.
std::atomic<std::uint64_t> known_others{0};

// The holder stores here and then counts threads; a thread that begins a turn changes the count and then looks here. So
// one of them sees the other.
std::atomic<std::uint32_t> turns_held{0};

[[gnu::constructor]] void forget_threads_in_children() {
  on_fork({.in_child = [] {
    own.store(0, std::memory_order_relaxed);
    turns_held.store(0, std::memory_order_relaxed);
  }});
}

// The kernel's number of threads, which this directory's links tell without a walk through it. 0: unknown.
std::uint64_t count_threads() {
  struct stat tasks = {};
  if (::stat("/proc/self/task", &tasks) != 0 || tasks.st_nlink < 3) return 0;
  return tasks.st_nlink - 2;
}

struct Others {
  bool is_system_telling;
  std::uint64_t count;  // 0: not settled
};

// How many threads are not ours.
Others count_others() {
  // The kernel's count lies between two loads of ours. If a thread of ours began or ended meanwhile, the upper half
  // differs, and the answer is "not settled".
  const std::uint64_t before = own.load(std::memory_order_seq_cst);
  const std::uint64_t all = count_threads();
  const std::uint64_t ours = before % kChange;
  const bool is_settled = own.load(std::memory_order_seq_cst) == before;
  return {.is_system_telling = all != 0, .count = is_settled && all > ours ? all - ours : 0};
}

}  // namespace

void count_own_thread() {
  own.fetch_add(kChange + 1, std::memory_order_seq_cst);
}

void forget_own_thread() {
  own.fetch_add(kChange - 1, std::memory_order_seq_cst);
}

TurnsHeld::TurnsHeld() {
  turns_held.fetch_add(1, std::memory_order_seq_cst);
}

TurnsHeld::~TurnsHeld() {
  turns_held.fetch_sub(1, std::memory_order_seq_cst);
}

ConsumersTurn::ConsumersTurn() {
  // Pairs with TurnsHeld: both sides store, then load. Either is_consumer_alone() counts this thread as the consumer's,
  // or this loop sees the hold.
  forget_own_thread();
  while (turns_held.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
}

// A thread that has been joined may still be on its way out of the kernel.
bool is_consumer_alone() {
  constexpr int kRounds = 5;
  for (int round = 0;; ++round) {
    const auto [is_system_telling, others] = count_others();
    if (!is_system_telling) return false;
    if (others == 1) return true;
    // So a program that really has several threads waits once, and not at each registration.
    if (others != 0 && others == known_others.load(std::memory_order_relaxed)) return false;
    if (round == kRounds) {
      known_others.store(others, std::memory_order_relaxed);
      return false;
    }
    nap();
  }
}

}  // namespace softdat::base
