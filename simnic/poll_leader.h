// SPDX-License-Identifier: BSD-2-Clause
// PollLeader: which of the queues that a program polls in turn asks the kernel what has come. One look brings the
// events of all queues, so only the polls of one queue, the leader, look. A queue that is polled twice while the leader
// is not becomes the leader: so a program that polls one queue alone looks in every poll, and one that polls eight in
// turn looks once in a round. After kMostPassed polls without a look the next one looks, whatever its queue: the
// program may have left both the leader and the queue that waits to become it.
//
// Any thread. All words are hints: a lost update costs one look more, or puts a look off to the next poll.
#pragma once

#include <atomic>

namespace softdat::simnic {

class PollLeader {
 public:
  static constexpr unsigned kMostPassed = 32;

  // Whether this poll of `queue` is to look.
  bool leads(const void* queue) {
    const void* const leader = leader_.load(std::memory_order_relaxed);
    const void* const waiting = waiting_.load(std::memory_order_relaxed);
    if (queue != leader && leader != nullptr && queue != waiting) {
      if (waiting == nullptr) waiting_.store(queue, std::memory_order_relaxed);
      const unsigned passed = passed_.load(std::memory_order_relaxed);
      passed_.store(passed + 1, std::memory_order_relaxed);
      if (passed < kMostPassed) return false;
    }
    if (queue != leader) leader_.store(queue, std::memory_order_relaxed);
    if (waiting != nullptr) waiting_.store(nullptr, std::memory_order_relaxed);
    if (passed_.load(std::memory_order_relaxed) != 0) passed_.store(0, std::memory_order_relaxed);
    return true;
  }

  // Whether this poll of `queue` need not take the baton, because polls ask the kernel and another queue's do. Null: of
  // no queue.
  bool may_pass(const void* queue) {
    return queue != nullptr && does_poll_ask_kernel_.load(std::memory_order_relaxed) && !leads(queue);
  }
  // With the baton: whether the last poll had to ask the kernel.
  void note_kernel_look(bool has_asked) { does_poll_ask_kernel_.store(has_asked, std::memory_order_relaxed); }

 private:
  std::atomic<const void*> leader_{nullptr};
  std::atomic<const void*> waiting_{nullptr};  // the first other queue that was polled since the leader was
  std::atomic<unsigned> passed_{0};            // polls since the last look
  std::atomic<bool> does_poll_ask_kernel_{false};
};

}  // namespace softdat::simnic
