// SPDX-License-Identifier: BSD-2-Clause
// ProgramActivity: how often the program polls and posts. The engine thread stands aside while it polls, and every 64th
// poll looks at the clock and asks the kernel.
//
// Threads: any. All words are hints: an update that is lost does no harm. Errors: none.
#pragma once

#include <atomic>
#include <cstdint>

namespace softdat::simnic {

class ProgramActivity {
 public:
  // A polling thread reads the clock, and asks the kernel, once in so many polls.
  static constexpr std::uint64_t kPollsPerClock = 64;
  static bool is_clock_poll(std::uint64_t poll) { return poll % kPollsPerClock == 0; }

  // How many polls there were so far.
  std::uint64_t polls() const { return polls_.load(std::memory_order_relaxed); }
  // Counts a poll. Returns the number of polls before it.
  std::uint64_t count_poll() {
    const std::uint64_t polls = polls_.load(std::memory_order_relaxed);
    polls_.store(polls + 1, std::memory_order_relaxed);
    return polls;
  }

  // How many sends were posted while posts are counted.
  std::uint64_t posts() const { return posts_.load(std::memory_order_relaxed); }
  void note_post() {
    if (counts_posts_.load(std::memory_order_relaxed)) [[unlikely]]
      posts_.store(posts_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  // By the engine thread: whether posts are counted from now on.
  void count_posts(bool counts) { counts_posts_.store(counts, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> polls_{0};
  std::atomic<std::uint64_t> posts_{0};
  std::atomic<bool> counts_posts_{false};  // written by the engine thread
};

}  // namespace softdat::simnic
