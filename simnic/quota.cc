// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/quota.h"

namespace softdat::simnic {

Share::~Share() {
  if (quota_ != nullptr) quota_->used_.fetch_sub(1, std::memory_order_relaxed);
}

std::optional<Share> Quota::take() {
  std::uint32_t used = used_.load(std::memory_order_relaxed);
  do {
    if (used >= most_) return std::nullopt;
  } while (!used_.compare_exchange_weak(used, used + 1, std::memory_order_relaxed));
  return Share(*this);
}

}  // namespace softdat::simnic
