// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>

#include "simnic/task.h"

namespace softdat::simnic {

// Tasks that were rung while another thread held the baton. Many ringers, one drainer (the holder).
// Ringers push onto head_, the holder takes the whole chain at once, so no node is ever popped
// singly and there is no ABA. Empty is a null head_; it is never full.
class DoorbellList {
 public:
  // Any thread. What the ringer did before is seen by the run that follows.
  void ring(Task& task);

  // Any thread; sequentially consistent with ring().
  bool is_empty() const { return head_.load(std::memory_order_seq_cst) == nullptr; }

  // With the baton: takes every task rung so far out of the list, and hands it to `visit`, in the order they rang.
  template <typename Visit>
  void drain(Visit visit) {
    Task* oldest = take_all();
    while (oldest != nullptr) {
      // Read before the flag is cleared, after which a ringer may overwrite it.
      Task* const next = oldest->next_rung_;
      // An exchange, not a store: it synchronizes with a ringer that found the task already rung, so that
      // run_with_baton() sees what that ringer posted.
      oldest->is_rung_.exchange(false, std::memory_order_seq_cst);
      visit(*oldest);
      oldest = next;
    }
  }

 private:
  // Returns the oldest, the head of the chain.
  Task* take_all();

  std::atomic<Task*> head_{nullptr};
};

}  // namespace softdat::simnic
