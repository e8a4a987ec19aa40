// SPDX-License-Identifier: BSD-2-Clause
// ReceiveAccounts: how many receives of each shared queue of a NIC are outstanding, from their
// posting until their completions have been polled. A completion names its queue by the number of
// its account, so that it may be polled after the queue has gone.
//
// Who writes what: an account is charged by posters, who hold their queue's posting lock, and
// settled by whoever polls (or loses) the completion. It is given out anew only when its queue has
// closed it and nothing is owed any more. mutex_ guards who owns which.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace softdat::simnic {

class ReceiveAccounts {
 public:
  using Number = std::uint16_t;          // 0 is none
  static constexpr Number kMost = 4095;  // accounts at a time

  ReceiveAccounts() : accounts_(kMost + 1u) {}

  // Any thread. Nothing when all are taken.
  std::optional<Number> open();
  // No more charges come.
  void close(Number number);

  // Any thread. settle() ignores numbers that are not, or owe nothing: they may come from a peer.
  void charge(Number number) { accounts_[number].owed.fetch_add(1, std::memory_order_relaxed); }
  void settle(Number number);
  std::uint32_t owed(Number number) const { return accounts_[number].owed.load(std::memory_order_acquire); }

 private:
  struct Account {
    std::atomic<std::uint32_t> owed{0};
    bool is_open = false;  // guarded by mutex_
  };

  std::vector<Account> accounts_;  // fixed in length
  std::mutex mutex_;
  Number last_ = 0;  // guarded by mutex_: where the search goes on
};

}  // namespace softdat::simnic
