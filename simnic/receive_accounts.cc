// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/receive_accounts.h"

namespace softdat::simnic {

std::optional<ReceiveAccounts::Number> ReceiveAccounts::open() {
  const std::lock_guard lock(mutex_);
  for (Number tried = 0; tried < kMost; ++tried) {
    last_ = last_ == kMost ? Number{1} : static_cast<Number>(last_ + 1);
    Account& account = accounts_[last_];
    if (account.is_open || account.owed.load(std::memory_order_acquire) != 0) continue;
    account.is_open = true;
    return last_;
  }
  return std::nullopt;
}

void ReceiveAccounts::close(Number number) {
  const std::lock_guard lock(mutex_);
  accounts_[number].is_open = false;
}

void ReceiveAccounts::settle(Number number) {
  if (number == 0 || number > kMost) return;
  std::atomic<std::uint32_t>& owed = accounts_[number].owed;
  std::uint32_t count = owed.load(std::memory_order_relaxed);
  while (count > 0 && !owed.compare_exchange_weak(count, count - 1, std::memory_order_release)) {
  }
}

}  // namespace softdat::simnic
