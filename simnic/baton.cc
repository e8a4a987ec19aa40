// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/baton.h"

namespace softdat::simnic {

void Baton::take() {
  base::note_lock_wait(locks::kBaton);
  // From here on every try_take() fails, so polling threads cannot starve this one.
  wanted_.fetch_add(1, std::memory_order_seq_cst);
  while (held_.exchange(true, std::memory_order_seq_cst)) {
    // prepare(), then look again: give_away() stores held_ and then notifies (base/event_count.h).
    const auto ticket = released_.prepare();
    if (held_.load(std::memory_order_seq_cst)) {
      released_.wait(ticket, base::kNever);
    } else {
      released_.cancel();
    }
  }
  wanted_.fetch_sub(1, std::memory_order_seq_cst);
  base::note_lock_taken(locks::kBaton);
  stay();
}

void Baton::leave_after_stay() {
  has_stayed_ = false;
  give_away();
  base::resume_cancellation();
}

}  // namespace softdat::simnic
