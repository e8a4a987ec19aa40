// SPDX-License-Identifier: BSD-2-Clause
// ReceiveAccounts: how many receives of each shared queue are outstanding, from their posting until their completions
// have been polled. A completion names its queue by the number of its account, so that it may be polled after the queue
// has gone.
//
// Threads: a poster charges an account before the receive can complete, and holds its queue's posting lock. The thread
// that polls or loses the completion settles the account. open() reuses an account after its queue has closed it and
// nothing is owed on it. mutex_ guards which accounts are open.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "hca/lock_places.h"

namespace softdat::hca {

class ReceiveAccounts {
 public:
  using Number = std::uint16_t;  // 0 is none

  // Has accounts 1 to `most`. Throws std::bad_alloc.
  explicit ReceiveAccounts(Number most) : most_(most), accounts_(most + std::size_t{1}) {}

  // Any thread. Nothing when all are taken. The one that has rested longest comes first.
  std::optional<Number> open() {
    const std::lock_guard lock(mutex_);
    for (Number tried = 0; tried < most_; ++tried) {
      last_ = last_ == most_ ? Number{1} : static_cast<Number>(last_ + 1);
      Account& account = accounts_[last_];
      if (account.is_open || account.owed.load(std::memory_order_acquire) != 0) continue;
      account.is_open = true;
      return last_;
    }
    return std::nullopt;
  }
  // No more charges come.
  void close(Number number) {
    const std::lock_guard lock(mutex_);
    accounts_[number].is_open = false;
  }

  // Any thread. settle() ignores numbers that name no account, or one that owes nothing.
  void charge(Number number) { accounts_[number].owed.fetch_add(1, std::memory_order_relaxed); }
  void settle(Number number) {
    if (number == 0 || number > most_) return;
    std::atomic<std::uint32_t>& owed = accounts_[number].owed;
    std::uint32_t count = owed.load(std::memory_order_relaxed);
    while (count > 0 && !owed.compare_exchange_weak(count, count - 1, std::memory_order_release)) {
    }
  }
  std::uint32_t owed(Number number) const { return accounts_[number].owed.load(std::memory_order_acquire); }

 private:
  struct Account {
    std::atomic<std::uint32_t> owed{0};
    bool is_open = false;  // guarded by mutex_
  };

  const Number most_;
  std::vector<Account> accounts_;  // fixed in length
  base::Mutex<locks::kReceiveAccounts> mutex_;
  Number last_ = 0;  // guarded by mutex_: where the search goes on
};

}  // namespace softdat::hca
