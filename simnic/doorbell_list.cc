// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/doorbell_list.h"

namespace softdat::simnic {

void DoorbellList::ring(Task& task) {
  // A task is in the list once. Its link belongs to the ringer that set the flag.
  if (task.is_rung_.exchange(true, std::memory_order_seq_cst)) return;
  Task* head = head_.load(std::memory_order_relaxed);
  do {
    task.next_rung_ = head;
  } while (!head_.compare_exchange_weak(head, &task, std::memory_order_seq_cst));
}

Task* DoorbellList::take_all() {
  // The list is newest first; turned round, so that queue pairs are served in the order of their rings.
  Task* newest = head_.exchange(nullptr, std::memory_order_seq_cst);
  Task* oldest = nullptr;
  while (newest != nullptr) {
    Task* next = newest->next_rung_;
    newest->next_rung_ = oldest;
    oldest = newest;
    newest = next;
  }
  return oldest;
}

}  // namespace softdat::simnic
