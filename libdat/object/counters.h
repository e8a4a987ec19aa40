// SPDX-License-Identifier: BSD-2-Clause
// Counters of the InfiniBand extension, numbered as DAT_IA_COUNTERS, DAT_EP_COUNTERS and DAT_EVD_COUNTERS. Those that
// SoftDAT does not count are always 0.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "base/assert.h"
#include "libdat/object/lock_places.h"

namespace softdat::object {

namespace ia_counter {
enum : std::size_t {
  kPzCreate = 0,
  kLmrCreate = 2,
  kRmrCreate = 4,
  kPspCreate = 6,
  kPspCreateAny = 7,
  kPspFree = 8,
  kRspCreate = 9,
  kEvdCreate = 11,
  kEpCreate = 13,
  kSrqCreate = 15,
  kCr = 17,
  kCrAccepted = 18,
  kCrRejected = 19,
  kAsyncError = 23,
  kAsyncQpError = 24,
  kAsyncCqError = 25,
  kListen = 26,
  kRequestSent = 27,
  kRequestReceived = 28,
  kReplySent = 29,
  kReplyReceived = 30,
  kReadySent = 31,
  kReadyReceived = 32,
  kRejectSent = 33,
  kRejectReceived = 34,
  kActiveEstablished = 35,
  kPassiveEstablished = 36,
  kAddressResolved = 39,
  kDisconnectSent = 40,
  kDisconnectReceived = 41,
  kError = 47,
  kRefused = 55,
  kTimedOut = 57,
  kCount = 85,
};
}  // namespace ia_counter

namespace ep_counter {
enum : std::size_t { kConnect = 0, kDisconnect = 1, kFirstTransfer = 2, kCount = 24 };
}  // namespace ep_counter

namespace evd_counter {
enum : std::size_t {
  kWait = 0,
  kWaitBlocked = 1,
  kWaitNotify = 2,
  kDequeue = 3,
  kDequeueFound = 4,
  kDequeueNotFound = 5,
  kDequeuePoll = 6,
  kDequeuePollFound = 7,
  kConnectionCallback = 8,
  kDtoCallback = 9,
  kCount = 10,
};
}  // namespace evd_counter

// Any thread. Counters are not consistent with each other. The first kAdded of them are counted here; the totals of the
// others come from elsewhere.
template <std::size_t kSize, std::size_t kAdded = kSize>
class CounterSet {
 public:
  void add(std::size_t which) {
    SOFTDAT_DEBUG_CHECK(which < kAdded, "a counter that is added to is counted here", which, kAdded);
    values_[which].fetch_add(1, std::memory_order_relaxed);
  }
  // The same without a locked instruction. REQUIRES: one thread at a time adds to this counter.
  void add_alone(std::size_t which) {
    SOFTDAT_DEBUG_CHECK(which < kAdded, "a counter that is added to is counted here", which, kAdded);
    values_[which].store(values_[which].load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  // The count since creation, without regard to resets.
  std::uint64_t total(std::size_t which) const {
    SOFTDAT_DEBUG_CHECK(which < kAdded, "a counter whose total is asked is counted here", which, kAdded);
    return values_[which].load(std::memory_order_relaxed);
  }

  // The part of `total` that came after the last reset of that counter. Resets it if asked.
  std::uint64_t since_reset(std::size_t which, std::uint64_t total, bool reset) {
    SOFTDAT_DEBUG_CHECK(which < kSize, "a counter that is read is one of the set", which, kSize);
    const std::lock_guard lock(mutex_);
    // Another thread may have reset it at a greater total, after the caller had read its own.
    const std::uint64_t result = total - std::min(total, bases_[which]);
    if (reset) bases_[which] = std::max(bases_[which], total);
    return result;
  }

 private:
  std::array<std::atomic<std::uint64_t>, kAdded> values_{};
  base::Mutex<locks::kCounterSet> mutex_;
  std::array<std::uint64_t, kSize> bases_{};  // guarded by mutex_
};

}  // namespace softdat::object
