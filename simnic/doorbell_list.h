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

  // With the baton: runs every task rung so far, in the order they rang.
  void drain();

 private:
  std::atomic<Task*> head_{nullptr};
};

}  // namespace softdat::simnic
