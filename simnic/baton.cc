// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/baton.h"

namespace softdat::simnic {

void Baton::take() {
  wanted_.fetch_add(1, std::memory_order_seq_cst);
  while (held_.exchange(true, std::memory_order_seq_cst)) {
    const auto ticket = released_.prepare();
    if (held_.load(std::memory_order_seq_cst)) {
      released_.wait(ticket, base::kNever);
    } else {
      released_.cancel();
    }
  }
  wanted_.fetch_sub(1, std::memory_order_seq_cst);
  stay();
}

void Baton::leave_after_stay() {
  const int cancel_state = cancel_state_;
  has_stayed_ = false;
  base::t_later_cancel_state = nullptr;
  give_away();
  pthread_setcancelstate(cancel_state, nullptr);
}

}  // namespace softdat::simnic
