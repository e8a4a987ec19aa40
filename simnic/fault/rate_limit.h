// SPDX-License-Identifier: BSD-2-Clause
// RateLimit: when a limited rate allows the next request. Each request is counted once, however often it is tried, and
// takes its time before the next. Owned by the baton.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/clock.h"

namespace softdat::simnic::fault {

class RateLimit {
 public:
  // In bytes per second; 0: none.
  void set(std::uint64_t rate) { rate_ = rate; }
  std::uint64_t rate() const { return rate_; }
  // Whether there is a limit, and this request has not been counted against it.
  bool applies_to(std::uint64_t number) const { return rate_ != 0 && charged_ <= number; }

  // When the next request may go.
  base::Time free_at() const { return free_at_; }
  // Counts the request, which goes now. REQUIRES: applies_to() it.
  void charge(std::uint64_t number, std::uint64_t size, base::Time now) {
    charged_ = number + 1;
    const std::chrono::duration<double> needed(static_cast<double>(size) / static_cast<double>(rate_));
    free_at_ = now + std::chrono::duration_cast<base::Duration>(needed);
  }

 private:
  std::uint64_t rate_ = 0;
  std::uint64_t charged_ = 0;  // requests before this one have been counted
  base::Time free_at_{};
};

}  // namespace softdat::simnic::fault
